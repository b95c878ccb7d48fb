"""Products with one factor in common that are added up: the factor multiplied with the sum of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import names_taken, without_unread
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Expr, Load, Unary, binary
from polymat.lang.expressiontext import expr_text
from polymat.rewrite.chains import read_once
from polymat.rewrite.contractiontime import ContractionTime, bits
from polymat.rewrite.madestages import element, made_stage, order_of, reads_inside
from polymat.rewrite.network import (
    Network,
    covers_box,
    divisor_of,
    indices_in,
    is_whole,
    network_of,
    renamed,
    times,
)

MOST_TERMS = 16  # of a sum that is looked at
TimeOf = Callable[[Stage, Network], ContractionTime]


def take_out_factors(pipeline: Pipeline, time_of: TimeOf, clearly: float) -> Pipeline:
    """Multiply a factor that products have in common once, with the sum of the other factors.

    before:  P(i, j) = sum over k of A(i, k) * B(k, j);  Q(i, j) = sum over k of A(i, k) * C(k, j)
             S(i, j) = P(i, j) + Q(i, j)
    after:   T(k, j) = B(k, j) + C(k, j);  S(i, j) = sum over k of A(i, k) * T(k, j)

    Where that is predicted to take less than `clearly` of the time.  Notes say so.
    """
    hidden, taken = read_once(pipeline), names_taken(pipeline)
    stages: list[Stage] = []
    notes: list[str] = []
    for stage in pipeline.stages:
        found = _Sum.of(stage, pipeline, hidden)
        shorter = None if found is None else found.shorter(pipeline, time_of, taken, clearly)
        if shorter is None:
            stages.append(stage)
        else:
            stages += shorter[0]
            notes.append(f"{pipeline.located(stage)}: {shorter[1]}")
    if not notes:
        return pipeline
    return without_unread(replace(pipeline, stages=tuple(stages), notes=(*pipeline.notes, *notes)))


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """One product of a sum, over the dimensions of the sum: the producer's, scaled."""

    network: Network
    scales: tuple[Expr, ...]

    def with_common(self, common: Load, model: _Term) -> Expr | None:
        """The factor beside the common one, with the summed indices that the model has; None without it."""
        for position, factor in enumerate(self.network.factors):
            names = _same_element(common, factor, model.network, self.network)
            if names is not None and divisor_of(self.network.factors[1 - position]) is None:
                return renamed(self.network.factors[1 - position], names)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """A point-wise stage that adds up products: those that nobody else reads, and what else it adds."""

    stage: Stage
    terms: tuple[_Term, ...]
    rest: tuple[Expr, ...]

    @staticmethod
    def of(stage: Stage, pipeline: Pipeline, hidden: set[str]) -> _Sum | None:
        """A stage as such a sum of at least two products; None where it is none."""
        expr = stage.parts[0].expr
        if not _is_plain(stage) or not isinstance(expr, Binary) or expr.op not in "+-":
            return None
        terms: list[_Term] = []
        rest: list[Expr] = []
        for expr in _addends(stage, pipeline, hidden):
            term = _term(expr, stage, pipeline, hidden)
            if term is None:
                rest.append(expr)
            else:
                terms.append(term)
        return _Sum(stage, tuple(terms), tuple(rest)) if len(terms) >= 2 else None

    def shorter(
        self, pipeline: Pipeline, time_of: TimeOf, taken: set[str], clearly: float
    ) -> tuple[list[Stage], str] | None:
        """The stages in place of the sum, where all its products have a factor in common, and why."""
        first = self.terms[0]
        for position, common in enumerate(first.network.factors):
            if not isinstance(common, Load) or divisor_of(first.network.factors[1 - position]) is not None:
                continue
            others = [first.network.factors[1 - position]]
            others += [e for term in self.terms[1:] if (e := term.with_common(common, first)) is not None]
            if len(others) == len(self.terms):
                return self._written(common, others, pipeline, time_of, taken, clearly)
        return None

    def _written(
        self,
        common: Load,
        others: Sequence[Expr],
        pipeline: Pipeline,
        time_of: TimeOf,
        taken: set[str],
        clearly: float,
    ) -> tuple[list[Stage], str] | None:
        network, stage = self.terms[0].network, self.stage
        scaled = [reduce(times, t.scales, e) for t, e in zip(self.terms, others, strict=True)]
        total = reduce(lambda one, other: binary("+", one, other), scaled)
        names = [frozenset(indices_in(each, network.bounds)) for each in others]
        if total.dtype != stage.dtype or any(each != names[0] for each in names):
            return None
        seconds, before = self._seconds(common, names[0], time_of)
        if seconds >= clearly * before:
            return None
        dims = tuple(dict.fromkeys(d for d in (*order_of(others[0]), *network.bounds) if d in names[0]))
        added = made_stage(total, dims, (), network.bounds, stage, taken)
        value = binary("*", common, element(added))
        whole = made_stage(value, stage.dims, network.summed, network.bounds, stage, taken)
        if not reads_inside(added, pipeline) or not reads_inside(whole, pipeline):
            return None
        text = " + ".join(expr_text(each) for each in others)
        note = f"{common.source.name} is multiplied once, with {text}, {seconds:.3g} s; not {before:.3g} s"
        if not self.rest:
            return [added, replace(whole, name=stage.name)], note
        rest: Expr = element(whole)
        for each in self.rest:
            rest = binary("+", rest, each)
        part = replace(stage.parts[0], expr=rest)
        return [added, whole, replace(stage, parts=(part,))], note

    def _seconds(self, common: Load, names: frozenset[str], time_of: TimeOf) -> tuple[float, float]:
        """Predicted with the factor taken out, and as it is written."""
        network = self.terms[0].network
        time, dims = time_of(self.stage, network), [*network.bounds]
        other, result = bits(names, dims), bits(network.result, dims)
        one = time.seconds((bits(order_of(common), dims), other), result)
        return one + time.seconds((other,) * len(self.terms), other), one * len(self.terms)


def _addends(stage: Stage, pipeline: Pipeline, hidden: set[str]) -> list[Expr]:
    """The terms of a sum, with those of sums that it alone reads; subtracted ones are negated."""
    found: list[Expr] = []
    waiting = [(stage.parts[0].expr, False)]
    while waiting and len(found) + len(waiting) <= MOST_TERMS:
        node, negative = waiting.pop()
        match node:
            case Binary("+", left, right):
                waiting += [(right, negative), (left, negative)]
            case Binary("-", left, right):
                waiting += [(right, not negative), (left, negative)]
            case Load(source) if (
                source.name in hidden and (inner := _value(node, stage, pipeline)) is not None
            ):
                waiting.append((inner, negative))
            case _:
                found.append(Unary("-", node, node.dtype) if negative else node)
    return [] if waiting else found


def _value(load: Load, stage: Stage, pipeline: Pipeline) -> Expr | None:
    """What a point-wise stage is that another reads at its own indices; None of anything else."""
    producer = pipeline.stage(load.source.name)
    if load.indices != tuple(map(Affine.name, stage.dims)) or producer.dtype != stage.dtype:
        return None
    if not _is_plain(producer):
        return None
    value = renamed(producer.parts[0].expr, dict(zip(producer.dims, stage.dims, strict=True)))
    return value if value.dtype == stage.dtype else None


def _is_plain(stage: Stage) -> bool:
    """Whether a stage is one expression everywhere."""
    parts = stage.parts
    return not stage.is_reduction and len(parts) == 1 and parts[0].condition is None and not parts[0].fills


def _term(expr: Expr, stage: Stage, pipeline: Pipeline, hidden: set[str]) -> _Term | None:
    """A product of two arrays, scaled, that is read at the stage's own indices; None of anything else."""
    dims = tuple(map(Affine.name, stage.dims))
    outer = network_of(replace(stage, parts=(replace(stage.parts[0], expr=expr),)))
    load = outer.factors[0] if outer is not None and len(outer.factors) == 1 else None
    if outer is None or not isinstance(load, Load) or load.indices != dims or load.source.name not in hidden:
        return None
    producer = pipeline.stage(load.source.name)
    if not producer.is_reduction or producer.dtype != stage.dtype:
        return None
    inner = network_of(producer)
    if inner is None or len(inner.factors) != 2 or not is_whole(producer, inner) or not covers_box(producer):
        return None
    if any(factor.dtype != stage.dtype for factor in inner.factors):
        return None
    whole = outer.with_factor(0, inner)
    return _Term(whole, whole.scales)


def _same_element(common: Load, other: Expr, model: Network, network: Network) -> dict[str, str] | None:
    """New names for the summed indices by which a factor is the common one; None where it is another."""
    if not isinstance(other, Load) or other.source.name != common.source.name:
        return None
    names: dict[str, str] = {}
    for mine, theirs in zip(common.indices, other.indices, strict=True):
        one, two = str(mine), str(theirs)
        plain = mine == Affine.name(one) and theirs == Affine.name(two)
        if not plain or two not in network.bounds or names.setdefault(two, one) != one:
            return None
        if model.bounds.get(one) != network.bounds[two] or (two in network.result and one != two):
            return None
    summed = {name: names.get(name, "") for name in network.summed}
    matched = set(summed.values()) == set(model.summed) and len(summed) == len(model.summed)
    return summed if matched else None
