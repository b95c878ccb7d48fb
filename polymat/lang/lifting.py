"""Definitions repeated at every step: functions of a state become functions of the step as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, Parameter, Variable
from polymat.lang.function import CaseEntry, Function, Source
from polymat.lang.interval import Interval
from polymat.lang.makers import index_expression
from polymat.lang.reduction import ReduceEntry, Reduction
from polymat.lang.traverse import (
    condition_operands,
    loads_in,
    names_of,
    rebuild,
    rebuild_condition,
    rebuild_indices,
)

Before = Mapping[int, Callable[[tuple[Affine, ...]], Load]]
"""What a read of a state at indices becomes, by the identity of the state."""


@dataclass(frozen=True, slots=True)
class Times:
    """The dimensions that steps count, outermost first: their variables and intervals."""

    variables: tuple[Variable, ...]
    intervals: tuple[Interval, ...]

    @property
    def indices(self) -> tuple[Affine, ...]:
        """The step itself as indices."""
        return tuple(Affine.name(variable.name) for variable in self.variables)

    @property
    def sizes(self) -> tuple[Parameter, ...]:
        """The sizes that the intervals use."""
        return tuple(dict.fromkeys(size for interval in self.intervals for size in interval.sizes))


def values_of(function: Function) -> list[Expr]:
    """Every expression of a definition."""
    entries = [entry.value if isinstance(entry, CaseEntry) else entry for entry in function.defn]
    values = [entry.value if isinstance(entry, ReduceEntry) else entry for entry in entries]
    targets = (entry.target.indices for entry in entries if isinstance(entry, ReduceEntry))
    values += [atom.value for indices in targets for atom in computed_in(indices)]
    starts = [function.init] if isinstance(function, Reduction) and function.init is not None else []
    return [*values, *starts, *([function.default] if function.default is not None else [])]


def sources_of(function: Function) -> list[Source]:
    """List what a definition reads."""
    loads = (node for value in values_of(function) for node in loads_in(value))
    return list({id(load.source): load.source for load in loads}.values())


def reached(results: Iterable[Source], states: Sequence[Source]) -> list[Function]:
    """All functions that results need, as far as the states, which have no definition."""
    known = {id(state) for state in states}
    found: dict[int, Function] = {}
    stack = [*results]
    while stack:
        source = stack.pop()
        is_new = id(source) not in known and id(source) not in found
        if isinstance(source, Function) and source.is_defined and is_new:
            found[id(source)] = source
            stack += reversed(sources_of(source))
    return list(found.values())


def changing(functions: Sequence[Function], states: Sequence[Source]) -> list[Function]:
    """Those that need a state, directly or not, or that a variable of the step occurs in."""
    needy = {id(state) for state in states}
    while True:
        more = [f for f in functions if id(f) not in needy and needy & {id(s) for s in sources_of(f)}]
        if not more:
            return [function for function in functions if id(function) in needy]
        needy |= {id(function) for function in more}


def uses(functions: Sequence[Function], variable: Variable) -> list[Function]:
    """Those whose definitions use a variable that is not theirs."""
    return [function for function in functions if variable.name in names_used(function)]


def names_used(function: Function) -> dict[str, None]:
    """The names of variables and parameters in a definition, in what says where it holds and goes, too."""
    cases = [entry for entry in function.defn if isinstance(entry, CaseEntry)]
    conditions = [side for entry in cases for side in condition_operands(entry.condition)]
    entries = [entry.value if isinstance(entry, CaseEntry) else entry for entry in function.defn]
    targets = [entry.target for entry in entries if isinstance(entry, ReduceEntry)]
    return names_of([*values_of(function), *conditions, *targets])


class Lifted:
    """Functions with the dimensions of the steps in front of their own, made before they are defined.

    before: what reads of the states become.  forms: what stands for other names.  of: the functions at every
    step, by the identity of those that they are of; made holds some that exist already.
    """

    def __init__(
        self,
        functions: Sequence[Function],
        times: Times,
        before: Before,
        forms: Mapping[str, Affine],
        made: Mapping[int, Function],
    ) -> None:
        self.times = times
        self.before = before
        self.forms = forms
        self.functions = [function for function in functions if id(function) not in made]
        self.of = {id(function): self._declared(function) for function in self.functions} | dict(made)

    def define(self) -> None:
        """Give all of them their definitions."""
        for function in self.functions:
            made = self.of[id(function)]
            made.defn = [self.entry(entry, made) for entry in function.defn]
            made.defined_at, made.requires = function.defined_at, function.requires
            made.default = None if function.default is None else self.value(function.default)
            if isinstance(function, Reduction) and isinstance(made, Reduction):
                made.init = None if function.init is None else self.value(function.init)

    def _declared(self, function: Function) -> Function:
        domain = (
            (*self.times.variables, *function.variables),
            (*self.times.intervals, *function.intervals),
        )
        made: Function
        if isinstance(function, Reduction):  # what it adds has the bounds from data in it
            whole = (interval.whole() for interval in function.reduction_intervals)
            reduced = (
                (*self.times.variables, *function.reduction_variables),
                (*self.times.intervals, *whole),
            )
            made = Reduction(domain, reduced, function.dtype, function.name, internal=True)
        else:
            made = Function(domain, function.dtype, function.name, internal=True)
        made.at, made.wish = function.at, function.wish
        return made

    def entry(self, entry: Any, made: Function) -> Any:
        """An entry of a definition at a step."""
        match entry:
            case CaseEntry(condition, value, at):
                return CaseEntry(self.condition(condition), self.entry(value, made), at)
            case ReduceEntry(target, value, op, at):
                inner = tuple(form.substitute(self.forms) for form in target.indices)
                indices = (*self.times.indices, *rebuild_indices(inner, self.value))
                there = Load(made, indices, made.dtype, target.at, (*target.sizes, *self.times.sizes))
                return ReduceEntry(there, self.value(value), op, at)
            case _:
                return self.value(entry)

    def condition(self, condition: Condition) -> Condition:
        """A condition at a step."""
        return rebuild_condition(condition, self._leaf)

    def value(self, expr: Expr) -> Expr:
        """An expression at a step."""
        return rebuild(expr, self._leaf)

    def _leaf(self, node: Expr) -> Expr:
        if isinstance(node, Variable) and node.name in self.forms:
            leaves: dict[str, Expr] = {v.name: v for v in self.times.variables}
            return index_expression(self.forms[node.name], leaves)
        if not isinstance(node, Load):
            return node
        inner = tuple(form.substitute(self.forms) for form in node.indices)
        if id(node.source) in self.before:
            return self.before[id(node.source)](inner)
        made = self.of.get(id(node.source))
        if made is None:
            return Load(node.source, inner, node.dtype, node.at, node.sizes)
        indices = (*self.times.indices, *inner)
        return Load(made, indices, node.dtype, node.at, (*node.sizes, *self.times.sizes))
