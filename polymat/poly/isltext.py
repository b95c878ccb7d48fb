"""Affine forms, conditions and names in isl's syntax.

Every name gets an underscore in front, so that none can be one of isl's keywords (`mod`, `max`, `exists`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from polymat.errors import InternalError, Location
from polymat.lang.affine import Affine, Computed, FloorDiv
from polymat.lang.condition import Condition
from polymat.lang.indices import as_affine

_ENCODED = re.compile(r"\b(\d*)_(?=\w)")  # 3_N is three times N


def encode(name: str) -> str:
    """Name inside isl."""
    return "_" + name


def decode(name: str) -> str:
    """Our name for one inside isl."""
    return name[1:]


def decode_text(text: str) -> str:
    """A text of isl's with our names."""
    return _ENCODED.sub(r"\1", text)


def affine_text(form: Affine) -> str:
    """An affine form as isl reads it."""
    parts = [str(form.const)]
    for atom, coefficient in form.terms:
        match atom:
            case FloorDiv(numerator, divisor):
                parts.append(f"{coefficient}*floor(({affine_text(numerator)})/{divisor})")
            case Computed():
                raise InternalError(f"bug in polymat: {atom} is in a set, and known at the call alone")
            case _:
                parts.append(f"{coefficient}*{encode(atom)}")
    return " + ".join(parts)


def condition_text(condition: Condition, at: Location | None) -> str:
    """An affine condition as isl reads it; `NotAffineError` at `at` when it is not affine."""
    if condition.combines:
        word = "and" if condition.op == "&" else "or"
        return f"(({condition_text(condition.left, at)}) {word} ({condition_text(condition.right, at)}))"
    left, right = as_affine(condition.left, at), as_affine(condition.right, at)
    op = "=" if condition.op == "==" else condition.op
    return f"{affine_text(left)} {op} {affine_text(right)}"


def space_text(params: Sequence[str], body: str) -> str:
    """`[params] -> { body }`."""
    return f"[{', '.join(encode(p) for p in params)}] -> {{ {body} }}"


def tuple_text(dims: Sequence[str], tag: str = "") -> str:
    """`tag[dims]`."""
    return f"{tag}[{', '.join(encode(d) for d in dims)}]"
