"""Calls of BLAS routines with what they must give, by NumPy's own loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from polymat.codegen.routines.cblas import (
    CONJ_TRANS,
    LEFT,
    LOWER,
    NO_TRANS,
    NON_UNIT,
    RIGHT,
    TRANS,
    UNIT,
    UPPER,
)
from polymat.dataclass import dataclass

Array: TypeAlias = npt.NDArray[Any]
_Case: TypeAlias = tuple[Sequence[Any], Array, Array]
"""Arguments after the order, the memory that is written, and what it must hold then."""
_M, _N, _K = 9, 5, 17
_LONG = 67  # elements of vectors: several registers, and some more
_ALPHA, _BETAS = 2, (0, 3)
_OUTSIDE = 7  # what memory holds that must not be written
_SIDES, _TRIANGLES, _DIAGONALS = (LEFT, RIGHT), (LOWER, UPPER), (NON_UNIT, UNIT)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Arrays of one type: s, d, c or z."""

    letter: str

    @property
    def is_complex(self) -> bool:
        """Whether there are conjugates."""
        return self.letter in "cz"

    @property
    def dtype(self) -> str:
        """The type that NumPy has for it."""
        return {"s": "f4", "d": "f8", "c": "c8", "z": "c16"}[self.letter]

    @property
    def turns(self) -> tuple[int, ...]:
        """How a matrix may be read."""
        return (NO_TRANS, TRANS, CONJ_TRANS) if self.is_complex else (NO_TRANS, TRANS)

    def whole(self, *shape: int, start: int) -> Array:
        """Small numbers in double precision."""
        count = int(np.prod(shape))
        real = ((np.arange(count) * 5 + start) % 7 - 3.0).reshape(shape)
        return real + 1j * ((real + start) % 4 - 1) if self.is_complex else real

    def memory(self, shape: tuple[int, ...], value: float) -> Array:
        """Memory of a matrix, with a row and a column more."""
        return np.full(tuple(length + 1 for length in shape), value, self.dtype)

    def read(self, matrix: Array) -> Array:
        """A matrix in memory, not a number around it."""
        memory = self.memory(matrix.shape, np.nan)
        memory[:-1, :-1] = matrix
        return memory

    def spread(self, vector: Array, step: int, between: float = np.nan) -> Array:
        """A vector in memory, its elements so far apart, something else between and behind them."""
        memory = np.full(step * len(vector) + 1, between, self.dtype)
        memory[: step * len(vector) : step] = vector
        return memory

    def updated(self, where: Array | None, added: Array, beta: int) -> tuple[Array, Array]:
        """A matrix before and after `beta` times it plus something; where: which elements, None all.

        Nothing is read where `beta` is 0.
        """
        before, after = (self.memory(added.shape, _OUTSIDE) for _ in range(2))
        old = self.whole(*added.shape, start=3)
        where = np.ones(added.shape, bool) if where is None else where
        before[:-1, :-1][where] = old[where] if beta else np.nan
        after[:-1, :-1][where] = (added + beta * old)[where]
        return before, after


def _turned(matrix: Array, how: int) -> Array:
    """The matrix as it is stored that is read in some way, and the other way round."""
    if how == NO_TRANS:
        return matrix
    return matrix.T if how == TRANS else matrix.conj().T


def _times(a: Array, b: Array) -> Array:
    """The product by NumPy's own loops: no library that may be wrong as well."""
    return np.asarray(np.einsum("ij,jk->ik", a, b))


def _triangle(uplo: int, size: int) -> Array:
    lower = np.tri(size, dtype=bool)
    return lower if uplo == LOWER else lower.T


def _leading(memory: Array) -> tuple[Array, int]:
    return memory, memory.shape[1]


def _gemm(n: Numbers) -> Iterator[_Case]:
    a, b = n.whole(_M, _K, start=1), n.whole(_K, _N, start=2)
    added = _ALPHA * _times(a, b)
    for at, (one, other) in enumerate(product(n.turns, repeat=2)):
        beta = _BETAS[(at + at // 2) % 2]
        before, after = n.updated(None, added, beta)
        stored = (*_leading(n.read(_turned(a, one))), *_leading(n.read(_turned(b, other))))
        yield (one, other, _M, _N, _K, _ALPHA, *stored, beta, *_leading(before)), before, after


def _symmetric(n: Numbers, size: int, uplo: int) -> tuple[Array, Array]:
    """A symmetric matrix, and one of its triangles in memory."""
    values, stored = n.whole(size, size, start=1), _triangle(uplo, size)
    whole = np.where(stored, values, values.T)
    return whole, n.read(np.where(stored, whole, np.nan))


def _symm(n: Numbers) -> Iterator[_Case]:
    b = n.whole(_M, _N, start=2)
    for at, (side, uplo) in enumerate(product(_SIDES, _TRIANGLES)):
        whole, stored = _symmetric(n, _M if side == LEFT else _N, uplo)
        beta = _BETAS[(at + at // 2) % 2]
        before, after = n.updated(
            None, _ALPHA * (_times(whole, b) if side == LEFT else _times(b, whole)), beta
        )
        operands = (*_leading(stored), *_leading(n.read(b)))
        yield (side, uplo, _M, _N, _ALPHA, *operands, beta, *_leading(before)), before, after


def _rank_k(n: Numbers, turn: int) -> Iterator[_Case]:
    """syrk and, with a conjugate, herk, which has real scalars and a real diagonal."""
    a = n.whole(_M, _K, start=1)
    added = _ALPHA * _times(a, _turned(a, turn))
    for at, (uplo, how) in enumerate(product(_TRIANGLES, (NO_TRANS, turn))):
        beta = 0 if turn == CONJ_TRANS else _BETAS[(at + at // 2) % 2]
        before, after = n.updated(_triangle(uplo, _M), added, beta)
        stored = _leading(n.read(_turned(a, how)))
        yield (uplo, how, _M, _K, _ALPHA, *stored, beta, *_leading(before)), before, after


def _syr2k(n: Numbers) -> Iterator[_Case]:
    a, b = n.whole(_M, _K, start=1), n.whole(_M, _K, start=2)
    half = _ALPHA * _times(a, b.T)
    for at, (uplo, how) in enumerate(product(_TRIANGLES, (NO_TRANS, TRANS))):
        beta = _BETAS[(at + at // 2) % 2]
        before, after = n.updated(_triangle(uplo, _M), half + half.T, beta)
        stored = (*_leading(n.read(_turned(a, how))), *_leading(n.read(_turned(b, how))))
        yield (uplo, how, _M, _K, _ALPHA, *stored, beta, *_leading(before)), before, after


def _triangular(n: Numbers, size: int) -> Iterator[tuple[tuple[int, int, int], Array, Array]]:
    """Triangle, transposition and diagonal; the matrix that is meant, and it in memory."""
    values = n.whole(size, size, start=1)
    for uplo, how, diagonal in product(_TRIANGLES, n.turns, _DIAGONALS):
        inside = _triangle(uplo, size)
        whole, stored = np.where(inside, values, 0), np.where(inside, values, np.nan)
        np.fill_diagonal(whole, 2 if diagonal == NON_UNIT else 1)
        np.fill_diagonal(stored, 2 if diagonal == NON_UNIT else np.nan)
        yield (uplo, how, diagonal), _turned(whole, how), n.read(stored)


def _triangular_matrix(n: Numbers, *, solves: bool) -> Iterator[_Case]:
    b = n.whole(_M, _N, start=2)
    for side in _SIDES:
        for how, whole, stored in _triangular(n, _M if side == LEFT else _N):
            image = _times(whole, b) if side == LEFT else _times(b, whole)
            given, result = (image, b) if solves else (b, image)
            memory = n.memory((_M, _N), _OUTSIDE)
            after = memory.copy()
            memory[:-1, :-1], after[:-1, :-1] = given, _ALPHA * result
            operands = (*_leading(stored), *_leading(memory))
            yield (side, *how, _M, _N, _ALPHA, *operands), memory, after


def _triangular_vector(n: Numbers, *, solves: bool) -> Iterator[_Case]:
    x = n.whole(_M, 1, start=2)
    for at, (how, whole, stored) in enumerate(_triangular(n, _M)):
        given, result = (_times(whole, x), x) if solves else (x, _times(whole, x))
        step = 1 + at % 2
        memory = n.spread(given[:, 0], step, _OUTSIDE)
        yield (*how, _M, *_leading(stored), memory, step), memory, n.spread(result[:, 0], step, _OUTSIDE)


def _to_vector(n: Numbers, added: Array, step: int, beta: int) -> tuple[Array, Array]:
    """A vector before and after something is added to `beta` times it."""
    old = n.whole(len(added), start=3)
    before = n.spread(old if beta else np.full(len(added), np.nan), step, _OUTSIDE)
    return before, n.spread(added + beta * old, step, _OUTSIDE)


def _gemv(n: Numbers) -> Iterator[_Case]:
    a = n.whole(_M, _K, start=1)
    for how, step, beta in product(n.turns, (1, 2), _BETAS):
        read = a if how == NO_TRANS else _turned(a, how)
        x = n.whole(read.shape[1], 1, start=2)
        before, after = _to_vector(n, _ALPHA * _times(read, x)[:, 0], 3 - step, beta)
        operands = (*_leading(n.read(a)), n.spread(x[:, 0], step), step)
        yield (how, _M, _K, _ALPHA, *operands, beta, before, 3 - step), before, after


def _symv(n: Numbers) -> Iterator[_Case]:
    x = n.whole(_M, 1, start=2)
    for uplo, step, beta in product(_TRIANGLES, (1, 2), _BETAS):
        whole, stored = _symmetric(n, _M, uplo)
        before, after = _to_vector(n, _ALPHA * _times(whole, x)[:, 0], 3 - step, beta)
        operands = (*_leading(stored), n.spread(x[:, 0], step), step)
        yield (uplo, _M, _ALPHA, *operands, beta, before, 3 - step), before, after


def _ger(n: Numbers, *, conjugated: bool = False) -> Iterator[_Case]:
    x, y = n.whole(_M, start=1), n.whole(_K, start=2)
    for step in (1, 2):
        before, after = n.updated(None, _ALPHA * np.multiply.outer(x, y.conj() if conjugated else y), 1)
        operands = (n.spread(x, step), step, n.spread(y, 3 - step), 3 - step)
        yield (_M, _K, _ALPHA, *operands, *_leading(before)), before, after


def _syr(n: Numbers) -> Iterator[_Case]:
    x = n.whole(_M, start=1)
    for uplo, step in product(_TRIANGLES, (1, 2)):
        before, after = n.updated(_triangle(uplo, _M), _ALPHA * np.multiply.outer(x, x), 1)
        yield (uplo, _M, _ALPHA, n.spread(x, step), step, *_leading(before)), before, after


def _dot(n: Numbers, *, conjugated: bool = False) -> Iterator[_Case]:
    x, y = n.whole(_LONG, start=1), n.whole(_LONG, start=4)
    value = np.sum((x.conj() if conjugated else x) * y)
    for one, other in ((1, 1), (2, 1), (1, 2)):
        result = np.zeros(1, n.dtype)
        arguments = (_LONG, n.spread(x, one), one, n.spread(y, other), other)
        yield (*arguments, *((result,) if n.is_complex else ())), result, value.reshape(1)


def _axpy(n: Numbers) -> Iterator[_Case]:
    x = n.whole(_LONG, start=1)
    for one, other in ((1, 1), (2, 1), (1, 2)):
        before, after = _to_vector(n, _ALPHA * x, other, 1)
        yield (_LONG, _ALPHA, n.spread(x, one), one, before, other), before, after


def _scal(n: Numbers) -> Iterator[_Case]:
    x = n.whole(_LONG, start=1)
    for step in (1, 2):
        memory = n.spread(x, step, _OUTSIDE)
        yield (_LONG, _ALPHA, memory, step), memory, n.spread(_ALPHA * x, step, _OUTSIDE)


def _nrm2(n: Numbers) -> Iterator[_Case]:
    x = n.whole(_LONG, start=1)
    for step in (1, 2):
        yield (_LONG, n.spread(x, step), step), np.zeros(1, n.dtype), np.sqrt(np.sum(x * x)).reshape(1)


CASES: Mapping[str, Callable[[Numbers], Iterator[_Case]]] = {
    "gemm": _gemm,
    "symm": _symm,
    "syrk": lambda n: _rank_k(n, TRANS),
    "herk": lambda n: _rank_k(n, CONJ_TRANS),
    "syr2k": _syr2k,
    "trmm": lambda n: _triangular_matrix(n, solves=False),
    "trsm": lambda n: _triangular_matrix(n, solves=True),
    "gemv": _gemv,
    "symv": _symv,
    "trmv": lambda n: _triangular_vector(n, solves=False),
    "trsv": lambda n: _triangular_vector(n, solves=True),
    "ger": _ger,
    "geru": _ger,
    "gerc": lambda n: _ger(n, conjugated=True),
    "syr": _syr,
    "dot": _dot,
    "dotu_sub": _dot,
    "dotc_sub": lambda n: _dot(n, conjugated=True),
    "axpy": _axpy,
    "scal": _scal,
    "nrm2": _nrm2,
}
