"""Microkernels of a user's own: a block of a product in C, with what it asks of its operands."""

from __future__ import annotations

import re
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import OptionError, caller_location

Strides = tuple[int | None, int | None]
"""Elements from one index to the next along both dimensions of an operand; None: what a call says."""
_NAME = re.compile(r"(?!_pm_)[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"[^\n]*', re.MULTILINE)
_TYPES = {"float64": "f64", "float32": "f32"}
MOST_SIDE = 4096  # rows or columns of a block


@dataclass(frozen=True, slots=True)
class Microkernel:
    """A block of a product of matrices in C of your own, for `Options(microkernels=)`.

    `Call(name)` behind the block of a scheme, "[R(j), pack(B), R(i), R(k), U(i, 6), U(j, 8), Call(name)]",
    computes whole blocks by it.  polymat writes the loops around, the copies, and the blocks at the ends.

    It adds to c(i, j) the sum of a(i, k) * b(k, j) over `depth` points of k, for `rows` of i and `columns`
    of j, where T is double or float:

        void NAME(ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_depth,
                  const T *b, ptrdiff_t b_depth, ptrdiff_t b_column,
                  T *c, ptrdiff_t c_row, ptrdiff_t c_column)

    Strides are in elements; a(i, k) is a[i * a_row + k * a_depth].  What it may assume: depth is at least 1
    and a multiple of `depth`; strides that are stated have these values; c overlaps neither a nor b; pointers
    are aligned as their elements are, and to no more.  It reads and writes these elements alone, keeps no
    state (threads call it at the same time), and adds in any order.

    name: of the function in C.  source: its text, or the path of a file that has it, which is read now; it is
    compiled into the program, with its flags, as one static function, behind all of it; it includes no files
    in quotes.
    dtype: of all three operands, float64 or float32.  rows, columns: of a block.
    left, right, result: strides that it needs, (a_row, a_depth), (b_depth, b_column) and (c_row, c_column);
    None is any.  left=(1, 6) takes what `pack(A: k, i)` copies for blocks of six rows, right=(8, 1) what
    `pack(B)` does for eight columns.  Where the result lies otherwise, a block of it is added up apart.
    """

    name: str
    source: str | Path
    dtype: Any
    rows: int
    columns: int
    depth: int = 1
    left: Strides = (None, None)
    right: Strides = (None, None)
    result: Strides = (None, None)

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "dtype", _type_name(self.dtype))
        object.__setattr__(self, "source", _text(self.name, self.source))
        for name, most in (("rows", MOST_SIDE), ("columns", MOST_SIDE), ("depth", MOST_SIDE)):
            object.__setattr__(self, name, _count(name, getattr(self, name), most))
        for name in ("left", "right", "result"):
            object.__setattr__(self, name, _strides(name, getattr(self, name)))
        row, column = self.strides_apart
        both = gcd(row, column)  # so many columns further lies what is so many rows further
        if column // both < self.rows and row // both < self.columns:
            raise OptionError(
                f"Microkernel.result is {self.result}: elements of {self.rows} x {self.columns} overlap",
                at=caller_location(),
                hint="result=(None, 1) needs rows that lie together, and takes any distance of them",
            )

    @property
    def suffix(self) -> str:
        """The short name of its type, "f64" or "f32"."""
        return _TYPES[self.dtype]

    @property
    def strides_apart(self) -> tuple[int, int]:
        """The strides of a block of the result by itself: those that are stated, else row by row."""
        row, column = self.result
        if column is None:
            column = 1 if row is None or row >= self.columns else row * self.rows
        return (column * self.columns if row is None else row), column

    @property
    def points_apart(self) -> int:
        """The elements that a block by itself takes."""
        row, column = self.strides_apart
        return (self.rows - 1) * row + (self.columns - 1) * column + 1


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise OptionError(
            f"Microkernel.name is {name!r:.60}, not the name of a function in C",
            at=caller_location(),
            hint="letters, digits and underscores; names that begin with _pm_ are polymat's",
        )


def _type_name(dtype: Any) -> str:
    try:
        name = str(np.dtype(getattr(dtype, "dtype", dtype)).name)
    except (TypeError, ValueError):  # no type, or something that has one
        name = ""
    if name not in _TYPES:
        raise OptionError(
            f"Microkernel.dtype is {dtype!r:.60}, not float64 or float32",
            at=caller_location(),
            hint="dtype=Double, dtype=Float, or NumPy's names of them",
        )
    return name


def _text(name: str, source: Any) -> str:
    """The C text, which has to have the name of the function in it."""
    at, text = caller_location(), source
    if isinstance(source, Path):
        try:
            text = source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            hint = "source= is C text, or the path of a file with it"
            raise OptionError(f"Microkernel.source of {name}: {error}", at=at, hint=hint) from None
    if not isinstance(text, str) or not re.search(rf"\b{name}\s*\(", text):
        raise OptionError(
            f"Microkernel.source has no function {name}",
            at=at,
            hint="source= is C text, or a pathlib.Path of a file with it",
        )
    if found := _QUOTED.search(text):
        raise OptionError(
            f"Microkernel.source of {name} has {found[0].strip()}",
            at=at,
            hint="a text is compiled where no file of yours is, and says all: put that file's text into it",
        )
    return text


def _whole(value: Any) -> int | None:
    """An integer, of Python's or NumPy's; None for anything else."""
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None


def _count(name: str, value: Any, most: int) -> int:
    found = _whole(value)
    if found is None or not 1 <= found <= most:
        raise OptionError(
            f"Microkernel.{name} is {value!r:.60}, not an integer in 1 .. {most}",
            at=caller_location(),
            hint="rows and columns of a block, and what the depth of a call is a multiple of",
        )
    return found


def _strides(name: str, value: Any) -> Strides:
    pair = value if isinstance(value, tuple) and len(value) == 2 else (0, 0)
    row, column = (None if each is None else _whole(each) or 0 for each in pair)
    if any(each is not None and each < 1 for each in (row, column)):
        raise OptionError(
            f"Microkernel.{name} is {value!r:.60}, not a pair of strides",
            at=caller_location(),
            hint="(None, 1): any distance along the first dimension, neighbours along the second",
        )
    return row, column
