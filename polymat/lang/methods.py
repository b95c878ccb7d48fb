"""NumPy's methods on whole functions and inputs: reductions, subscripts, the transpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymat.lang import later
from polymat.lang.operators import WholeOperators
from polymat.lang.types import ScalarType

if TYPE_CHECKING:
    from polymat.lang.algebra import Result
    from polymat.lang.function import Source


class WholeMethods(WholeOperators):
    """Methods of arrays as a whole: sums, means, extremes and products along axes.

    axis: a dimension, several, negative ones counted from the last, or None for all; keepdims: whether what
    was reduced stays as a dimension of extent 1.  Element types are NumPy's: small integers are summed in 64
    bits, their mean is Double; dtype: the type to convert the elements to first, and of the result.
    """

    def __getitem__(self: Any, index: Any) -> Result:
        """A part of the array: `A[1:-1, ::2]`, `A[0]`, `A[..., None]`.

        Bounds are integers, negative ones counted from the end, or affine in sizes.  Where bounds and extent
        are known they are clamped, as Python does; others must lie within, which a call checks.
        """
        return later.subscripted(self, index)

    @property
    def T(self: Any) -> Source:  # noqa: N802 (NumPy's name)
        """The transpose, of any rank with all dimensions in the other order; a vector is its own."""
        result: Source = self if self.rank < 2 else later.transposed(self)
        return result

    def transpose(self: Any, *axes: int) -> Source:
        """The dimensions in another order, all reversed where none are given; a vector is its own."""
        return later.transposed(self, *axes) if axes else self.T

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.rank

    def astype(self: Any, dtype: ScalarType) -> Result:
        """The elements converted to another type, by C's rules."""
        return later.converted(self, dtype, False)

    def clip(self: Any, min: Any = None, max: Any = None) -> Result:
        """The elements, none below `min` or above `max`; None is no limit, NaN stays NaN."""
        return later.clipped(self, min, max)

    def dot(self: Any, other: Any) -> Any:
        """The product of matrices and vectors, `A @ other`; of two vectors their inner product."""
        return later.dotted(self, other)

    def sum(self: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Result:
        """Sum of the elements."""
        return later.summed(self, axis, keepdims, dtype)

    def prod(self: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Result:
        """Product of the elements."""
        return later.multiplied(self, axis, keepdims, dtype)

    def mean(self: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Result:
        """Arithmetic mean of the elements; of none NaN."""
        return later.mean(self, axis, keepdims, dtype)

    def var(self: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Result:
        """Mean of the squared distances from the mean, divided by their number less `ddof`."""
        return later.variance(self, axis, ddof, keepdims)

    def std(self: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Result:
        """Square root of the variance."""
        return later.deviation(self, axis, ddof, keepdims)

    def min(self: Any, axis: Any = None, keepdims: bool = False) -> Result:
        """Smallest element, NaN where there is one; a call without elements is refused."""
        return later.extreme(self, "min", axis, keepdims)

    def max(self: Any, axis: Any = None, keepdims: bool = False) -> Result:
        """Largest element, NaN where there is one; a call without elements is refused."""
        return later.extreme(self, "max", axis, keepdims)

    def argmin(self: Any, axis: int | None = None, keepdims: bool = False) -> Result:
        """Index of the first smallest element, or of the first NaN; without an axis of all in a row."""
        return later.position(self, "argmin", axis, keepdims)

    def argmax(self: Any, axis: int | None = None, keepdims: bool = False) -> Result:
        """Index of the first largest element, or of the first NaN; without an axis of all in a row."""
        return later.position(self, "argmax", axis, keepdims)

    def any(self: Any, axis: Any = None, keepdims: bool = False) -> Result:
        """Whether an element is not 0."""
        return later.holds(self, "any", axis, keepdims)

    def all(self: Any, axis: Any = None, keepdims: bool = False) -> Result:
        """Whether all elements are not 0; of none they are."""
        return later.holds(self, "all", axis, keepdims)

    def cumsum(self: Any, axis: int | None = None, dtype: Any = None) -> Result:
        """Sums of the elements up to each one along a dimension, which a vector need not name."""
        return later.running(self, "cumsum", axis, dtype)

    def cumprod(self: Any, axis: int | None = None, dtype: Any = None) -> Result:
        """Products of the elements up to each one along a dimension, which a vector need not name."""
        return later.running(self, "cumprod", axis, dtype)

    def __len__(self: Any) -> int:
        """The extent of the first dimension, where that is a number."""
        return later.length(self)

    def __round__(self: Any, digits: int | None = None) -> Result:
        """The nearest integers in the type of the elements, as `Round` finds them."""
        return later.rounded(self, digits)

    if not TYPE_CHECKING:  # which know what is not there

        def __getattr__(self, name: str) -> Any:
            """Say how what arrays of NumPy have, and these have not, is written."""
            raise later.no_attribute(self, name)
