"""Contractions of arrays in Einstein's notation: sugar for reductions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import Result, check_plain, described, extents_hint, merged_sizes, names_in, span
from polymat.lang.expr import Expr, Variable, binary
from polymat.lang.function import Source
from polymat.lang.interval import Domain
from polymat.lang.matrix import MatrixReduction, MatrixResult
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import Int, ScalarType

_FORMS = "'ik,kj->ij', or the result first: 'ij-ik-kj'"


class TensorResult(Result):
    """An array of any rank that is computed element by element."""

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what="Tensor")


class TensorReduction(Result, Reduction):
    """An array of any rank that is accumulated."""

    def __init__(self, domain: Domain, reduction_domain: Domain, dtype: ScalarType) -> None:
        Reduction.__init__(self, domain, reduction_domain, dtype, None, None, what="Tensor")


@dataclass(frozen=True, slots=True)
class Subscripts:
    """The letters of the result and of every operand."""

    result: str
    operands: tuple[str, ...]

    @property
    def summed(self) -> str:
        """The letters that the result does not have, in order of first use."""
        letters = dict.fromkeys("".join(self.operands))
        return "".join(letter for letter in letters if letter not in self.result)


def einsum(subscripts: str, *operands: Source) -> Result:
    """The sum of products of array elements that `subscripts` names: a letter for each dimension.

    `einsum("aebf,dfce->abcd", A, B)`, or `"abcd-aebf-dfce"` with the result first, is the sum over e and f of
    A(a, e, b, f) * B(d, f, c, e).  Without `->` the result has the letters that occur once, in alphabetical
    order, as in NumPy.  A letter that an operand has twice goes along its diagonal: "ii->i", "ii".  A letter
    has one extent everywhere: `ShapeError`.
    """
    found = parse_subscripts(subscripts, len(operands))
    text = f"einsum({subscripts!r}, ...)"
    sources = _sources(text, found, operands)
    extents = _extents(text, found, sources)
    variables = _variables(extents, names_in(sources))
    sizes = merged_sizes(*sources)
    spans = {letter: span(extent, sizes) for letter, extent in extents.items()}
    factors: list[Expr] = [
        source(*(variables[letter] for letter in letters))
        for source, letters in zip(sources, found.operands, strict=True)
    ]
    value = reduce(lambda one, other: binary("*", one, other), factors)
    domain = ([variables[d] for d in found.result], [spans[d] for d in found.result])
    stage: Result
    if not found.summed:
        stage = (
            MatrixResult(domain, value.dtype) if len(found.result) <= 2 else TensorResult(domain, value.dtype)
        )
        stage.defn = [value]
    else:
        every = found.result + found.summed
        whole = ([variables[d] for d in every], [spans[d] for d in every])
        kind = MatrixReduction if len(found.result) <= 2 else TensorReduction
        stage = kind(domain, whole, value.dtype)
        stage.defn = [Reduce(stage(*domain[0]), value, Op.Sum)]
    stage.text = text
    return stage


def parse_subscripts(subscripts: Any, count: int) -> Subscripts:
    """The letters of a contraction of `count` operands; `LangError` where they are no contraction."""
    at = caller_location()
    if not isinstance(subscripts, str):
        raise LangError(f"einsum: the subscripts are {subscripts!r}, not a text", at=at, hint=_FORMS)
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    if "..." in text:
        raise LangError(f"einsum: '{subscripts}': no '...'", at=at, hint="give every dimension its letter")
    if arrow or "," in text or "-" not in text:
        terms = inputs.split(",")
        letters = "".join(terms)
        result = result if arrow else "".join(sorted(d for d in set(letters) if letters.count(d) == 1))
    else:
        result, *terms = text.split("-")
    for term in (result, *terms):
        _check_term(subscripts, term)
    for letter in dict.fromkeys(result):
        if result.count(letter) > 1:
            raise LangError(
                f"einsum: '{subscripts}': index {letter} occurs twice in the result",
                at=at,
                hint="a Function with a Case fills a diagonal: Case(Condition(i, '==', j), v(i))",
            )
    if len(terms) != count:
        raise LangError(
            f"einsum: '{subscripts}' has {counted(len(terms), 'operand')}, got {count}",
            at=at,
            hint=_FORMS,
        )
    for letter in result:
        if not any(letter in term for term in terms):
            raise LangError(
                f"einsum: '{subscripts}': index {letter} of the result is in no operand",
                at=at,
                hint=f"the operands have {', '.join(sorted(set(''.join(terms)))) or 'no indices'}",
            )
    return Subscripts(result, tuple(terms))


def _check_term(subscripts: str, term: str) -> None:
    at = caller_location()
    for letter in term:
        if not (letter.isascii() and letter.isalpha()):
            raise LangError(
                f"einsum: '{subscripts}': {letter!r} is no index, indices are letters", at=at, hint=_FORMS
            )


def _sources(text: str, found: Subscripts, operands: Sequence[Any]) -> list[Source]:
    at = caller_location()
    for position, (value, letters) in enumerate(zip(operands, found.operands, strict=True), 1):
        if not isinstance(value, Source):
            raise DtypeError(
                f"{text}: operand {position} is {value!r}, not an array",
                at=at,
                hint="a Matrix, Vector, Image, or a stage",
            )
        check_plain(value, text)
        if value.rank != len(letters):
            raise ShapeError(
                f"{text}: '{letters}' has {counted(len(letters), 'index', 'indices')}, "
                f"{described(value)} has {value.rank}",
                at=at,
                hint="one letter for each dimension",
            )
    return list(operands)


def _extents(text: str, found: Subscripts, sources: Sequence[Source]) -> dict[str, Affine]:
    """The extent of every letter."""
    extents: dict[str, tuple[Affine, Source]] = {}
    for source, letters in zip(sources, found.operands, strict=True):
        for letter, extent in zip(letters, source.shape, strict=True):
            known, first = extents.setdefault(letter, (extent, source))
            if known != extent:
                raise ShapeError(
                    f"{text}: index {letter} is {known} in {described(first)} and {extent} in "
                    f"{described(source)}",
                    at=caller_location(),
                    hint=extents_hint(known, extent),
                )
    return {letter: extent for letter, (extent, _) in extents.items()}


def _variables(extents: Mapping[str, Affine], taken: set[str]) -> dict[str, Variable]:
    """An index variable for each letter, with its name where that is free."""
    variables = {}
    for letter in extents:
        name = letter
        while name in taken or (name != letter and name in extents):
            name += "x"
        taken = {*taken, name}
        variables[letter] = Variable(Int, name)
    return variables
