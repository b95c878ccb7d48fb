"""The calling convention between a compiled library and whoever calls it, once for codegen and runtime.

A library exports three C functions.  `NAME` is the plain prototype for C programs: input pointers, output
pointers, sizes (`ptrdiff_t`), scalars; it returns `PROCESSOR_LACKS` where it cannot run.  The launcher uses
the generic entry instead:

    int    _pm_entry(void *const *arrays, const ptrdiff_t *sizes, const void *scalars, int threads);
    double _pm_work(const ptrdiff_t *sizes);

`arrays` holds the inputs and then the outputs; `scalars` is an array of 16-byte slots, each holding one value
of its C type at offset 0; `threads` >= 1.  The result is `OK`, `OUT_OF_MEMORY` or, with the outputs as they
were, `LIBRARY_MISSING` or, of an input with an element outside of what was declared, `VALUES_OUTSIDE`.
`_pm_work` estimates the scalar operations of a call.  Where a library has
`size_t _pm_missing_bytes(void)`, it tells what the latest call of this thread that found no memory had asked
for, and `const char _pm_intermediates[]`, where there is that, for which arrays.  Where it has
`const char *_pm_outside(void)`, that says in words which element was outside in the latest such call of this
thread.

Arrays are C-contiguous and aligned to their element, but for inputs that are `by_columns` or have `pitches`;
no output overlaps any other array, except that output `o` may be exactly input `i` when `(i, o)` is in
`Signature.inplace`.

A library with `Signature.routines` also exports

    void _pm_bind(void (*const *addresses)(void), void *planner);

which is to be called once before the entry: `addresses` holds those routines in order, and `planner` the lock
and counter shared by all who plan with the same FFTW (`polymat.runtime.fftwlock`).  Without, the entry looks
for libraries itself.

The text `mark(signature)` stands in every library, as `_pm_signature`: who calls it by a description that
came from elsewhere compares the two before.
"""

from __future__ import annotations

import hashlib

from polymat.dataclass import dataclass

OK = 0
OUT_OF_MEMORY = 1
LIBRARY_MISSING = 2
PROCESSOR_LACKS = 3
VALUES_OUTSIDE = 4
SCALAR_SLOT_BYTES = 16
BY_NAME = -1
PITCH = -2
ABI_VERSION = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A linear form over the symbols of a signature: floor((const + sum coefficient * symbol) / divisor).

    `terms` pairs symbol indices with coefficients.  Symbols are the sizes in order, then the derived ones.
    """

    const: int
    terms: tuple[tuple[int, int], ...] = ()
    divisor: int = 1


@dataclass(frozen=True, slots=True)
class Size:
    """An integer that domains depend on.

    It is either bound to the extent of an array dimension (`array` is an index into `Signature.inputs`, `dim`
    one of its dimensions, whose row is invertible and has this as its only size not bound by an earlier
    entry), or passed by name (`array` is BY_NAME), or the pitch of a dimension (`array` is PITCH), which the
    strides of an array show.  A size is never below `least`.
    """

    name: str
    array: int = -1
    dim: int = -1
    least: int = 0

    @property
    def by_name(self) -> bool:
        """Whether the caller passes it."""
        return self.array == BY_NAME


@dataclass(frozen=True, slots=True)
class Array:
    """An input or output array: C-contiguous, `dtype` a NumPy dtype string such as 'float64'.

    `extents` are rows over the symbols; a negative extent of an output means 0.  `zero_fill` says that a new
    output array must be zeroed because the pipeline does not write all of it.  It writes all from
    the positions `written_from` on, a row a dimension; empty where what it writes is no rectangle.  An input
    that is `by_columns` is Fortran-contiguous instead.  One with `pitches` is part of a larger array: for
    each dimension but the first the size, by its number, that says how many steps along it one along the
    dimension before takes; -1: as many as it has points.
    """

    name: str
    dtype: str
    extents: tuple[Row, ...]
    zero_fill: bool = False
    written_from: tuple[Row, ...] = ()
    by_columns: bool = False
    pitches: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time scalar, `dtype` a NumPy dtype string; passed by name unless listed in `Signature.order`."""

    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a compiled library: arguments, results, and conditions on sizes.

    order: names of the positional arguments (all inputs, and the scalars the user put among them).
    derived: rows that define further symbols, numbered on from the sizes; each may use those before it.
    inplace: (input index, output index) pairs for which `out=` may be the input itself without a copy.
    constraints: rows that must be >= 0, each with what it requires in words, N >= 3 say.
    routines: what it calls of BLAS and FFT libraries, by the names of CBLAS and FFTW.
    """

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    sizes: tuple[Size, ...] = ()
    derived: tuple[Row, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    order: tuple[str, ...] = ()
    inplace: tuple[tuple[int, int], ...] = ()
    constraints: tuple[tuple[Row, str], ...] = ()
    routines: tuple[str, ...] = ()


def mark(signature: Signature) -> str:
    """A digest of all that a call depends on: everything but names, which only messages have."""
    named = [array.name for array in signature.inputs] + [scalar.name for scalar in signature.scalars]
    named += [size.name for size in signature.sizes]
    numbers = {name: number for number, name in enumerate(named)}
    parts = (
        [[(a.dtype, a.extents, a.zero_fill, a.written_from, a.by_columns, a.pitches) for a in arrays]
         for arrays in (signature.inputs, signature.outputs)],
        [(size.array, size.dim, size.least) for size in signature.sizes],
        signature.derived,
        [scalar.dtype for scalar in signature.scalars],
        [numbers.get(name, -1) for name in signature.order],
        signature.inplace,
        [row for row, _ in signature.constraints],
        signature.routines,
    )  # fmt: skip
    return f"polymat signature {hashlib.sha256(repr(parts).encode()).hexdigest()}"
