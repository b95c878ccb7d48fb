"""Integer parameters that are declared to lie between limits, which each call checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from polymat.errors import DtypeError, LangError
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Parameter, Variable
from polymat.lang.indices import as_affine
from polymat.lang.interval import size_parameters
from polymat.lang.traverse import walk


@later.limits.given
def limits(parameter: Parameter, values: Any) -> tuple[Condition, ...]:
    """The conditions on sizes that `values=(lowest, highest)` of a parameter stands for.

    A parameter that is an index is a size, so that it is not negative.
    """
    name, at = parameter.name, parameter.at
    if parameter.declared.kind not in "iu":
        raise DtypeError(
            f"values= declares what an integer lies between, and {name} is {parameter.declared}",
            at=at,
            hint="leave it out: only what may be an index needs it",
        )
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise LangError(f"values= of {name} is a pair, got {values!r:.60}", at=at, hint="values=(0, N - 1)")
    low, high = values
    lowest, _ = (_form(parameter, each) for each in values)
    if lowest.is_constant and lowest.const < 0:
        raise LangError(
            f"values= of {name} begins at {lowest}, and what may be an index is at least 0",
            at=at,
            hint=f"let it begin at 0, and read at {name} - {-lowest.const}",
        )
    conditions = (Condition(parameter, ">=", low), Condition(parameter, "<=", high))
    return conditions[1:] if lowest == Affine() else conditions


def _form(parameter: Parameter, value: Any) -> Affine:
    for node in walk(value) if isinstance(value, Expr) else ():
        if isinstance(node, Variable):
            raise LangError(
                f"values= of {parameter.name} uses the variable {node}",
                at=parameter.at,
                hint="limits are made of integers and size parameters",
            )
    return as_affine(value, parameter.at)


def with_limits(parameters: Iterable[Parameter]) -> list[Parameter]:
    """The parameters, and those that their limits are made of."""
    found = list(parameters)
    for parameter in found:  # which grows
        for condition in parameter.limits:
            found += size_parameters(condition.right)
    return found


def all_limits(parameters: Iterable[Parameter]) -> tuple[Condition, ...]:
    """The conditions that are declared of some parameters, each once."""
    return tuple(dict.fromkeys(condition for each in parameters for condition in each.limits))
