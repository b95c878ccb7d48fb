"""Polynomials as C: their terms in pairs, so that few steps follow each other."""

from __future__ import annotations

from collections.abc import Sequence


def estrin(coefficients: Sequence[str], variable: str, powers: Sequence[str], tail: str) -> str:
    """The C expression of a polynomial, lowest coefficient first.

    powers: names of the variable's powers 2, 4, 8 ...; tail: of the literals, "f" for float.
    """
    terms = [f"{value}{tail}" for value in coefficients]
    names = (variable, *powers)
    for name in names[:-1]:
        pairs = [terms[k : k + 2] for k in range(0, len(terms), 2)]
        terms = [_sum(pair[1], name, pair[0], tail) if len(pair) == 2 else pair[0] for pair in pairs]
    result = terms[-1]
    for term in reversed(terms[:-1]):
        result = _sum(result, names[-1], term, tail)
    return result


def _sum(factor: str, variable: str, addend: str, tail: str) -> str:
    return f"__builtin_fma{tail}({factor}, {variable}, {addend})"
