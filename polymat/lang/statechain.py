"""The states of an iteration, as functions of the step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from itertools import chain, count
from typing import Any

from polymat.errors import DtypeError, LangError, Location, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    between,
    check_plain,
    described,
    fresh_variables,
    pointwise,
    span,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, Parameter, Variable
from polymat.lang.function import Case, CaseEntry, Function, Source
from polymat.lang.indices import index_variable
from polymat.lang.interval import Interval
from polymat.lang.lengths import may_be_negative, not_negative
from polymat.lang.lifting import Before, Lifted, Times, changing, names_used, reached, uses
from polymat.lang.names import MAX_LENGTH
from polymat.lang.reduction import Reduction
from polymat.lang.types import Int, Long, lossy
from polymat.lang.whole import makers_of

Sizes = tuple[Parameter, ...]
_DEPTH = ContextVar("_DEPTH", default=0)  # of the steps that are being written down, each within another one


class StateChain:
    """The states of an iteration as functions of the step.

    states: what stands for the state while the step is written down.
    """

    def __init__(
        self,
        step: Callable[..., Any],
        first: Sequence[Source],
        total: Affine,
        sizes: Sizes,
        at: Location | None,
    ) -> None:
        self.first = first
        self.total = total
        self.sizes = sizes
        self.at = at
        self.states = tuple(map(_state_like, first))
        self.number = index_variable(f"_pm_step{_DEPTH.get()}", Long)
        self.results = self._results(step)
        functions = reached(self.results, self.states)
        self.functions = changing(functions, (*self.states, *uses(functions, self.number)))
        self.taken = {name for function in functions for name in _names_of(function)}
        self.taken |= {size.name for size in (*sizes, *chain.from_iterable(s.sizes for s in first))}

    def last(self, keep: int) -> tuple[Result, ...]:
        """The last states."""
        time = self._fresh("t")
        times = Times((time,), (between(Affine((), 1), self.total, self.sizes),))
        every = Times((time,), (between(Affine(), self.total, self.sizes),))
        made = self._chained(every, times, Affine.name(time.name))
        return tuple(self._kept(state, source, keep) for state, source in zip(made, self.first, strict=True))

    def each(self, every: int) -> tuple[Result, ...]:
        """Each state of so many: rounds of so many steps, from what the round before came to."""
        rounds, time = self._fresh("s"), self._fresh("t")
        many = self.total.floordiv(every)
        outer = Times((rounds,), (between(Affine(), many, self.sizes),))
        later = between(Affine((), 1), many, self.sizes)
        kept = [self._stage(outer, source) for source in self.first]
        inner = Times((rounds, time), (later, span(Affine((), every + 1), ())))
        times = Times((rounds, time), (later, between(Affine((), 1), Affine((), every), ())))
        passed = (Affine.name(rounds.name) - 1).scale(every)
        before = [_reading(stage, (Affine.name(rounds.name) - 1,), self.sizes) for stage in kept]
        made = self._chained(inner, times, passed + Affine.name(time.name), before)
        end = (Affine.name(rounds.name), Affine((), every))
        for stage, source, state in zip(kept, self.first, made, strict=True):
            indices = tuple(Affine.name(v.name) for v in stage.variables[1:])
            ahead = Condition(rounds, ">=", 1)
            stage.requires = self._countable(source)
            stage.defn = [
                Case(Condition(rounds, "==", 0), _reading(source, (), source.sizes)(indices)),
                Case(ahead, _reading(state, end, self.sizes)(indices)),
            ]
        return tuple(kept)

    def _results(self, step: Callable[..., Any]) -> tuple[Source, ...]:
        """What the step makes of a state, of the shape and type of the state."""
        wants = _arguments(step, len(self.states), self.at)
        deeper = _DEPTH.set(_DEPTH.get() + 1)
        try:
            found = step(*(*self.states, self.number)[:wants])
        finally:
            _DEPTH.reset(deeper)
        results = tuple(found) if isinstance(found, tuple | list) else (found,)
        if len(results) != len(self.first):
            raise ShapeError(
                f"iterate: the step takes {counted(len(self.first), 'array')} and gives {len(results)}",
                at=self.at,
                hint="return the next state of each, in the same order",
            )
        for state, result in zip(self.first, results, strict=True):
            self._check(state, result)
        return results

    def _check(self, state: Source, result: Any) -> None:
        if not isinstance(result, Source):
            raise LangError(
                f"iterate: the step gives an array, got {result!r:.60}",
                at=self.at,
                hint="a result of whole arrays, or a Function over the indices of the state",
            )
        check_plain(result, "iterate")
        if result.shape != state.shape:
            raise ShapeError(
                f"iterate: the step makes {described(result)} of {described(state)}",
                at=self.at,
                hint="every state has the same shape: say with a Case what holds at the boundary",
            )
        if result.dtype != state.dtype:
            raise DtypeError(
                f"iterate: the step makes {result.dtype} of the {state.dtype} state {state.label}",
                at=self.at,
                hint=f"{lossy(result.dtype, state.dtype)} where that is meant",
            )

    def _chained(
        self,
        all_times: Times,
        times: Times,
        number: Affine,
        initial: Sequence[Callable[[tuple[Affine, ...]], Load]] = (),
    ) -> list[Result]:
        """The state at all times: the first one, and what the step makes of the one before."""
        stages = [
            self._stage(all_times, source, None if result in self.results[:place] else result)
            for place, (source, result) in enumerate(zip(self.first, self.results, strict=True))
        ]
        back = (*times.indices[:-1], times.indices[-1] - 1)
        before: Before = {
            id(state): _reading(stage, back, self.sizes)
            for state, stage in zip(self.states, stages, strict=True)
        }
        merged: dict[int, Function] = {}
        for result, stage in zip(self.results, stages, strict=True):
            if result in self._mergeable():
                merged.setdefault(id(result), stage)
        lifted = Lifted(self.functions, times, before, {self.number.name: number}, merged)
        lifted.define()
        starts = initial or [_reading(source, (), source.sizes) for source in self.first]
        for stage, start, result in zip(stages, starts, self.results, strict=True):
            if merged.get(id(result)) is stage and isinstance(result, Function):
                self._define(stage, start, lifted, result.defn, result.default)
                stage.requires = result.requires
            else:
                indices = _own(stage, times)
                following = lifted.value(Load(result, indices, result.dtype, self.at, result.sizes))
                self._define(stage, start, lifted, [following], None)
        return stages

    def _mergeable(self) -> list[Function]:
        """Results whose definitions can be those of the states, which have one more case."""
        return [
            result
            for result in self.results
            if isinstance(result, Function) and not isinstance(result, Reduction) and result in self.functions
        ]

    def _define(
        self,
        stage: Result,
        start: Callable[[tuple[Affine, ...]], Load],
        lifted: Lifted,
        entries: Sequence[Any],
        default: Expr | None,
    ) -> None:
        """Define a state: the first one, and at later steps by the entries of the step."""
        time = lifted.times.variables[-1]
        first, ahead = Condition(time, "==", 0), Condition(time, ">=", 1)
        cases: list[Any] = [Case(first, start(_own(stage, lifted.times)))]
        for entry in (lifted.entry(entry, stage) for entry in entries):
            if isinstance(entry, CaseEntry):
                cases.append(CaseEntry(ahead & entry.condition, entry.value, entry.at))
            else:
                cases.append(Case(ahead, entry))
        stage.defn = cases
        stage.default = None if default is None else lifted.value(default)

    def _stage(self, times: Times, like: Source, named: Source | None = None) -> Result:
        """A stage of the steps and the indices of an array, those of its definition where it has one."""
        taken = {*self.taken, *(variable.name for variable in times.variables)}
        variables: Sequence[Variable] = fresh_variables(like.rank, taken)
        spans: Sequence[Interval] = [span(extent, like.sizes) for extent in like.shape]
        if named is not None and named in self._mergeable() and isinstance(named, Function):
            variables, spans = named.variables, named.intervals
        domain = ([*times.variables, *variables], [*times.intervals, *spans])
        stage: Result = makers_of((like,)).computed(domain, like.dtype)
        stage.at, stage.text = self.at, f"the states of {like.label}"
        if named is not None and named.name is not None and not isinstance(named, Reduction):
            stage.wish = f"{named.name[: MAX_LENGTH - 8]}_steps"
        return stage

    def _kept(self, state: Function, source: Source, keep: int) -> Result:
        """The last states of one array."""
        extents = source.shape if keep == 1 else (Affine((), keep), *source.shape)
        last = self.total - (keep - 1)

        def value(*variables: Variable) -> Expr:
            own = tuple(Affine.name(variable.name) for variable in variables)
            time, rest = (last, own) if keep == 1 else (last + own[0], own[1:])
            return _reading(state, (time,), self.sizes)(rest)

        text = f"iterate({source.label})"
        result: Result = pointwise(makers_of((source,)).computed, (source, state), extents, value, text)
        result.requires = not_negative((last,), self.sizes) if keep > 1 else self._countable(source)
        result.at = self.at
        return result

    def _countable(self, source: Source) -> tuple[Condition, ...]:
        """That steps are not fewer than none; of N - 1 for N elements they are where there is no element."""
        if any(not may_be_negative(self.total + 1 - extent) for extent in source.shape):
            return ()
        return not_negative((self.total,), self.sizes)

    def _fresh(self, wish: str) -> Variable:
        names = chain([wish], (f"{wish}{k}" for k in count(1)))
        name = next(name for name in names if name not in self.taken)
        self.taken.add(name)
        return Variable(Int, name)


def _own(stage: Function, times: Times) -> tuple[Affine, ...]:
    """The indices of a stage behind the steps."""
    return tuple(Affine.name(variable.name) for variable in stage.variables[len(times.variables) :])


def _state_like(source: Source) -> Result:
    """What stands for a state of that shape while the step is written down; it is never defined."""
    variables = fresh_variables(source.rank, {size.name for size in source.sizes})
    spans = [span(extent, source.sizes) for extent in source.shape]
    state: Result = makers_of((source,)).computed((variables, spans), source.dtype)
    state.text = source.label
    return state


def _arguments(step: Callable[..., Any], states: int, at: Location | None) -> int:
    """How many arguments a step takes: the states, and behind them the number of the step if it needs it."""
    try:
        signature = inspect.signature(step)
    except (TypeError, ValueError):
        return states
    for given in (states, states + 1):
        with suppress(TypeError):
            signature.bind(*range(given))
            return given
    taken = f"takes {signature}" if signature.parameters else "takes no arguments"
    raise LangError(
        f"iterate: the state is {counted(states, 'array')}, and the step {taken}",
        at=at,
        hint="each array of the state is an argument of its own; one more is the number of the step",
    )


def _reading(
    source: Source, before: tuple[Affine, ...], sizes: Sizes
) -> Callable[[tuple[Affine, ...]], Load]:
    """How an array is read at indices behind some others."""
    known = tuple(dict.fromkeys((*sizes, *source.sizes)))

    def read(indices: tuple[Affine, ...]) -> Load:
        return Load(source, (*before, *indices), source.dtype, caller_location(), known)

    return read


def _names_of(function: Function) -> set[str]:
    names = {variable.name for variable in function.variables}
    if isinstance(function, Reduction):
        names |= {variable.name for variable in function.reduction_variables}
    return names | {size.name for size in function.sizes} | names_used(function).keys()
