"""Random expressions as text, with the type that NumPy gives them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from tests.differential.oracle import TYPES


class Weak(Enum):
    """The type of a Python literal, by a sample."""

    INT = 1
    FLOAT = 1.0000001


Type = Any  # a dtype or a Weak

WORDS = {np.dtype(name): word for word, name in TYPES.items()}
ALL = tuple(WORDS)
_WEIGHTS = (8, 4, 3, 2, 3, 2, 3, 2, 3, 10, 14, 3, 3)
HALF = np.dtype(np.float16)


@dataclass(frozen=True)
class Text:
    """An expression and its type."""

    text: str
    dtype: Type

    @property
    def kind(self) -> str:
        """i, u, f or c."""
        if isinstance(self.dtype, Weak):
            return "i" if self.dtype is Weak.INT else "f"
        return str(self.dtype.kind)


def random_dtype(rng: random.Random) -> Any:
    """An element type; Double and Float most often."""
    return rng.choices(ALL, _WEIGHTS)[0]


def read_as(dtype: Any) -> Any:
    """The type in which elements are computed with."""
    return np.dtype(np.float32) if dtype == HALF else dtype


def computed_dtype(rng: random.Random) -> Any:
    """An element type that is not for storage alone."""
    return read_as(random_dtype(rng))


def _sample(dtype: Type) -> Any:
    return dtype.value if isinstance(dtype, Weak) else np.ones(1, dtype)


def promoted(left: Type, right: Type, divide: bool = False) -> Any:
    """NumPy's type of an operation."""
    operation = np.divide if divide else np.add
    return operation(_sample(left), _sample(right)).dtype


def converted(value: Text, dtype: Any) -> Text:
    """Storable as `dtype` and beside it: unchanged where NumPy's same-kind rule allows it."""
    if isinstance(value.dtype, Weak):
        return value if value.kind == "i" or dtype.kind in "fc" else Text("2", Weak.INT)
    mixed = value.kind == "u" and dtype.kind == "i" and promoted(value.dtype, dtype).kind == "f"
    if np.can_cast(value.dtype, dtype, "same_kind") and not mixed:
        return value
    text, word = value.text, WORDS[dtype]
    if value.kind == "c":
        text, kind = f"Real({text})", "f"
    else:
        kind = value.kind
    if kind == "f" and dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -100
        text = f"Max(Min({text}, 100), {low})"
    return Text(f"Cast({word}, {text})", read_as(dtype))


class Expressions:
    """Makes expressions from given atoms (reads, variables, parameters)."""

    def __init__(self, rng: random.Random, atoms: list[Text]) -> None:
        self.rng = rng
        self.atoms = atoms

    def make(self, depth: int) -> Text:
        """An expression that is not a mere literal."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            return rng.choice(self.atoms)
        kind = rng.choices(
            (
                *("arithmetic", "divide", "integer", "extreme", "power", "function", "cast", "select"),
                *("negate", "bits"),
            ),
            (12, 2, 3, 2, 2, 4, 2, 2, 1, 2),
        )[0]
        made: Text = getattr(self, f"_{kind}")(depth - 1)
        return made

    def _literal(self, other: Text) -> Text:
        rng = self.rng
        if other.kind in "iu" and rng.random() < 0.7:
            return Text(str(rng.randint(0, 7)), Weak.INT)
        return Text(rng.choice(("0.5", "0.1", "2.0", "1.75", "3.0")), Weak.FLOAT)

    def _pair(self, depth: int) -> tuple[Text, Text]:
        left = self.make(depth)
        right = self._literal(left) if self.rng.random() < 0.3 else self.make(depth)
        return (left, right) if self.rng.random() < 0.7 else (right, left)

    def _arithmetic(self, depth: int) -> Text:
        left, right = self._pair(depth)
        op = self.rng.choice("++-*")
        return Text(f"({left.text} {op} {right.text})", promoted(left.dtype, right.dtype))

    def _divide(self, depth: int) -> Text:
        left, right = self._pair(depth)
        dtype = promoted(left.dtype, right.dtype, divide=True)
        if self.rng.random() < 0.7 and not isinstance(right.dtype, Weak):
            below = f"(Abs({right.text}) + 1)"
            parts = np.abs(np.ones(1, right.dtype)).dtype
            return Text(
                f"({left.text} / {below})", promoted(left.dtype, promoted(parts, Weak.INT), divide=True)
            )
        return Text(f"({left.text} / {right.text})", dtype)

    def _real(self, value: Text) -> Text:
        if value.kind != "c":
            return value
        return Text(
            f"{self.rng.choice(('Real', 'Imag', 'Abs'))}({value.text})", np.ones(1, value.dtype).real.dtype
        )

    def _integer(self, depth: int) -> Text:
        left, op = self._real(self.make(depth)), self.rng.choice(("//", "%"))
        if self.rng.random() < 0.7:
            literal = self.rng.choice(("1", "2", "3", "5") if left.kind in "iu" else ("0.75", "2", "1.5"))
            return Text(f"({left.text} {op} {literal})", left.dtype)
        right = self._real(self.make(depth))
        return Text(f"({left.text} {op} {right.text})", promoted(left.dtype, right.dtype))

    def _bits(self, depth: int) -> Text:
        """Of integers; of others a sum."""
        left, right = self._pair(depth)
        dtype = promoted(left.dtype, right.dtype)
        if dtype.kind not in "iu" or isinstance(left.dtype, Weak):
            return Text(f"({left.text} + {right.text})", dtype)
        if self.rng.random() < 0.2:
            return Text(f"(~{left.text})", left.dtype)
        return Text(f"({left.text} {self.rng.choice(('&', '|', '^', '<<', '>>'))} {right.text})", dtype)

    def _extreme(self, depth: int) -> Text:
        left, right = (self._real(value) for value in self._pair(depth))
        name = self.rng.choice(("Min", "Max"))
        return Text(f"{name}({left.text}, {right.text})", promoted(left.dtype, right.dtype))

    def _power(self, depth: int) -> Text:
        base = self.make(depth)
        if base.kind == "f" and self.rng.random() < 0.3:
            return Text(f"(Abs({base.text}) ** {self.rng.choice(('0.5', '1.5', '-1'))})", base.dtype)
        return Text(f"({base.text} ** {self.rng.randint(0, 3)})", base.dtype)

    def _function(self, depth: int) -> Text:
        value, rng = self._real(self.make(depth)), self.rng
        same = rng.choice(("Abs", "Sign", "Floor", "Ceil"))
        if rng.random() < 0.35:
            return Text(f"{same}({value.text})", value.dtype)
        form = rng.choice(
            (
                "Sin({})",
                "Cos({})",
                "Tanh({})",
                "Atan({})",
                "Exp(Sin({}))",
                "Log(Abs({}) + 1)",
                "Sqrt(Abs({}))",
            )
        )
        small = value.kind in "iu" and np.dtype(value.dtype).itemsize <= 2
        dtype = np.dtype(np.float32) if small else promoted(value.dtype, Weak.FLOAT)
        return Text(form.format(value.text), dtype)

    def _cast(self, depth: int) -> Text:
        value, dtype = self.make(depth), random_dtype(self.rng)
        if value.kind == "c" and dtype.kind != "c":
            value = self._real(value)
        if value.kind == "f" and dtype.kind in "iu":
            return converted(value, dtype)
        return Text(f"Cast({WORDS[dtype]}, {value.text})", read_as(dtype))

    def condition(self, depth: int) -> str:
        """A comparison of values, or two."""
        left, right = (self._real(value) for value in self._pair(depth))
        op = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        text = f'Condition({left.text}, "{op}", {right.text})'
        if depth > 0 and self.rng.random() < 0.2:
            return f"({text} {self.rng.choice('&|')} {self.condition(depth - 1)})"
        return text

    def _select(self, depth: int) -> Text:
        then, otherwise = self._pair(depth)
        text = f"Select({self.condition(max(depth - 1, 0))}, {then.text}, {otherwise.text})"
        return Text(text, promoted(then.dtype, otherwise.dtype))

    def _negate(self, depth: int) -> Text:
        value = self.make(depth)
        return Text(f"(-{value.text})", value.dtype)
