"""What arrays of NumPy have and those of a pipeline have not, and how it is written instead."""

from __future__ import annotations

import numpy as np

from polymat.errors import LangError, NoAttributeError, caller_location
from polymat.lang import later
from polymat.lang.function import Source
from polymat.lang.operators import indexed

_ROWS = "a Function over the new indices says where each element comes from: R(i, j) = A(i * N + j)"
_SORTED = "compile what comes before and after, and sort between the calls"
_PLAIN = "everything is row-major; compile(..., fortran=[A]) takes an array in the other order"
HINTS = {
    "reshape": _ROWS,
    "ravel": _ROWS,
    "flatten": _ROWS,
    "resize": _ROWS,
    "squeeze": "A[0] takes the only element of a dimension",
    "swapaxes": "A.transpose(0, 2, 1) names the order of all dimensions",
    "real": "pm.Real(A)",
    "imag": "pm.Imag(A)",
    "conj": "pm.Conj(A)",
    "conjugate": "pm.Conj(A)",
    "round": "pm.Round(A)",
    "copy": "what is described does not change: A itself",
    "size": "the product of A.shape",
    "itemsize": "A.dtype.size",
    "nbytes": "the product of A.shape times A.dtype.size",
    "trace": 'pm.einsum("ii->", A)',
    "diagonal": 'pm.einsum("ii->i", A)',
    "repeat": "a Function over the new indices",
    "take": "a Function that reads A at computed indices: A(Clamp(index(i), 0, N - 1))",
    "sort": _SORTED,
    "argsort": _SORTED,
    "flags": _PLAIN,
    "strides": _PLAIN,
    "fill": "pm.where, or a Function with a constant",
    "item": "A() of a number, A(i) of a vector",
    "tolist": "what a call of the compiled pipeline returns has it",
    "view": "pm.Cast(dtype, A) converts the elements",
}
_OF_SIGNALS = ("fir", "down", "up", "interp_fft", "resample")


@later.no_attribute.given
def no_attribute(source: Source, name: str) -> AttributeError:
    """The error for an attribute that is not there."""
    if name in _OF_SIGNALS:
        return NoAttributeError(
            f"{source.label} is no Signal and has no {name}",
            at=caller_location(),
            hint="declare it a Signal; pm.convolve, pm.upfirdn and pm.resample_poly take a Vector as well",
        )
    if name.startswith("_") or not hasattr(np.ndarray, name) or hasattr(type(source), name):
        return AttributeError(
            f"{type(source).__name__!r} object has no attribute {name!r}", name=name, obj=source
        )
    return NoAttributeError(
        f"{source.label} is described, not computed, and has no {name}",
        at=caller_location(),
        hint=HINTS.get(name, f"write it with polymat's own functions, or index it: {indexed(source)}"),
    )


@later.length.given
def length(source: Source) -> int:
    """The extent of the first dimension; refused where it is no number."""
    if source.rank and source.shape[0].is_constant:
        return int(source.shape[0].const)
    what = f"whose first extent is {source.shape[0]}" if source.rank else "which is a single number"
    raise LangError(
        f"len() of {source.label}, {what}",
        at=caller_location(),
        hint=f"{source.label}.shape[0] in a definition; a number where it is declared with one",
    )
