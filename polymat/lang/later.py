"""Functions that operators call and that are written on what has the operators.

`A + B` of arrays makes an array, and `~e` of an expression a condition, which is made of expressions: the
module of the operators cannot import the one that says what they make.  It calls the function here; the
module that has it gives it, `@later.arithmetic.given`, and is loaded when it is first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from polymat.errors import InternalError

if TYPE_CHECKING:
    from polymat.errors import LangError, Location
    from polymat.lang.affine import Affine, Computed, Limits
    from polymat.lang.algebra import Result
    from polymat.lang.condition import Condition
    from polymat.lang.expr import Const, Expr, Parameter
    from polymat.lang.function import Source
    from polymat.lang.matrix import MatrixReduction
    from polymat.lang.reduction import Op, Reduction
    from polymat.lang.types import ScalarType
    from polymat.lang.whole import Mask

P = ParamSpec("P")
R = TypeVar("R")


class Later(Generic[P, R]):
    """A function of a module that is loaded when the function is first called, and gives it then."""

    __slots__ = ("_function", "module")

    def __init__(self, module: str) -> None:
        self.module = f"polymat.lang.{module}"
        self._function: Callable[P, R] | None = None

    def given(self, function: Callable[P, R]) -> Callable[P, R]:
        """Let this be the function, which stays what it is."""
        self._function = function
        return function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._function is None:
            import_module(self.module)
        if self._function is None:
            raise InternalError(f"{self.module} does not give its function")
        return self._function(*args, **kwargs)


# Of sizes and expressions.
binary: Later[[str, Any, Any], Expr] = Later("expr")
call: Later[[str, Any], Expr] = Later("expr")
negative: Later[[Any], Expr] = Later("expr")
value_of_sizes: Later[[str, Any, Any], Any] = Later("expr")
compared_extents: Later[[str, Affine, Any], Any] = Later("comparedextents")
extent_expression: Later[[Affine], Expr] = Later("makers")
limits: Later[[Parameter, Any], tuple[Condition, ...]] = Later("parameterlimits")
# Of values in indices.
computed: Later[[Expr, int, tuple[Limits, ...]], Computed] = Later("computed")
substituted: Later[[Expr, Mapping[str, Affine]], Expr] = Later("computed")
value_text: Later[[Expr], str] = Later("computed")
held: Later[[object, str, Location | None], Condition] = Later("condition")
logical: Later[[str, object, object], Condition] = Later("condition")
no_bits: Later[[str, str], LangError] = Later("condition")
saturated: Later[[Any, ScalarType, Location | None], Expr] = Later("saturation")
combined: Later[[str, Any, Any], Any] = Later("condition")
complement: Later[[Any], Any] = Later("condition")
# Of arrays, element by element.
arithmetic: Later[[str, Any, Any], Result] = Later("whole")
compared: Later[[str, Any, Any], Mask] = Later("whole")
equality: Later[[str, Source, object], Any] = Later("whole")
negated: Later[[Source], Result] = Later("whole")
inverted: Later[[Source], Result] = Later("whole")
absolute: Later[[Source], Result] = Later("whole")
where: Later[[Any, Any, Any], Result] = Later("whole")
dotted: Later[[Any, Any], Any] = Later("numpyfunctions")
clipped: Later[[Any, Any, Any], Result] = Later("numpyfunctions")
rounded: Later[[Source, Any], Result] = Later("numpyfunctions")
length: Later[[Source], int] = Later("ndarraynames")
no_attribute: Later[[Source, str], AttributeError] = Later("ndarraynames")
converted: Later[[Source, ScalarType, bool], Result] = Later("whole")
apply_to_whole: Later[[Any, str, Any, Any], Any] = Later("numpyfunctions")
call_on_whole: Later[[Any, Any, Any], Any] = Later("numpyfunctions")
# Of arrays as a whole.
times: Later[[Any, Any], Result] = Later("matrix")
matmul: Later[[Any, Any], MatrixReduction] = Later("matrix")
transposed: Later[..., Result] = Later("matrix")
subscripted: Later[[Source, Any], Result] = Later("subscripts")
summed: Later[[Source, Any, bool, Any], Result] = Later("reducing")
multiplied: Later[[Source, Any, bool, Any], Result] = Later("reducing")
mean: Later[[Source, Any, bool, Any], Result] = Later("reducing")
variance: Later[[Source, Any, Any, bool], Result] = Later("reducing")
deviation: Later[[Source, Any, Any, bool], Result] = Later("reducing")
extreme: Later[[Source, str, Any, bool], Result] = Later("reducing")
position: Later[[Source, str, Any, bool], Result] = Later("reducing")
holds: Later[[Source, str, Any, bool], Result] = Later("reducing")
running: Later[[Source, str, Any, Any], Result] = Later("running")
# Of reductions.
neutral: Later[[Op, ScalarType], Const] = Later("neutral")
positions: Later[[Reduction, tuple[Any, ...]], tuple[Any, ...]] = Later("positions")
