"""Recursive filters: recurrences along one dimension that are linear with constant coefficients."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.graph.stage import Part, Ref, Stage
from polymat.idiom.layout import Extents
from polymat.idiom.pastsamples import moving_element, negative, signed_terms, steps_between
from polymat.idiom.recursion import MOST_DEPTH, MOST_DIMS, Recursion, Section
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load, Unary, Variable, binary
from polymat.lang.traverse import rebuild, walk
from polymat.poly.domain import Domain


def match_recursion(stage: Stage, context: Domain, extents: Extents) -> Recursion | None:
    """A recurrence as a recursive filter, whatever the order and the names of its dimensions.

    y(n) = b0 x(n) + b1 x(n - 1) + ... - a1 y(n - 1) - ..., where what is before the start is left out.  The
    first results may be given, or have something added; coefficients are the same for all n and channels.
    """
    dims = stage.dims
    if not stage.reads_itself or stage.is_reduction or stage.dtype.kind != "f" or len(dims) > MOST_DIMS:
        return None
    if not stage.domain.assume(context).is_box():
        return None
    ways = [(time, chain) for time in reversed(dims) for chain in (None, *dims) if chain != time]
    found = (_Matcher(stage, time, chain, context).match() for time, chain in ways)
    usable = (each for each in found if each is not None and len(each.channels) <= 1)
    return next((each for each in usable if _exists(each, context, extents)), None)


def _exists(found: Recursion, context: Domain, extents: Extents) -> bool:
    """Whether the signal has a sample for every result, also where no result reads it."""
    own = extents[found.signal.name]
    inside = [
        limit for form, extent in zip(found.indices, own, strict=True) for limit in (form, extent - 1 - form)
    ]
    points = found.stage.domain.assume(context)
    return points.is_subset(points.at_least_zero(inside))


class _Matcher:
    """Matches a stage along one dimension, with or without a chain."""

    def __init__(self, stage: Stage, time: str, chain: str | None, context: Domain) -> None:
        self.stage, self.time, self.chain, self.context = stage, time, chain, context
        self.domain = stage.domain.assume(context)
        self.own = {dim: Affine.name(dim) for dim in stage.dims}
        self.signal: tuple[Ref, tuple[Affine, ...]] | None = None

    def match(self) -> Recursion | None:
        stage, parts = self.stage, list(self.stage.parts)
        count = 1
        begin: tuple[Ref, tuple[Affine, ...]] | None = None
        if self._low(self.time) != Affine():
            return None
        if self.chain is not None:
            last = stage.box[stage.dims.index(self.chain)][1]
            first = self._at({self.chain: 0})
            begun = next((p for p in parts if p.domain.assume(self.context).equals(first)), None)
            if self._low(self.chain) != Affine() or not last.is_constant or begun is None:
                return None
            begin = moving_element(begun.expr, self.time)
            if begin is None or begin[0] == stage.ref or begin[0].dtype != stage.dtype:
                return None
            count = last.const
            parts.remove(begun)
            self.domain = self.domain.subtract(first)
            before = {**self.own, self.chain: Affine.name(self.chain) - 1}
            self.signal = (stage.ref, tuple(before.values()))
        usual = self._usual(parts)
        if usual is None or self.signal is None:
            return None
        part, section = usual
        if begin is None:
            section = self._from_newest(section)
            if section.depth > MOST_DEPTH:
                return None
        starts = self._starts([p for p in parts if p is not part], section)
        if starts is None:
            return None
        signal, indices = begin if begin is not None else self.signal
        return Recursion(stage, self.time, self.chain, count, signal, indices, section, *starts)

    def _low(self, dim: str) -> Affine:
        return self.stage.box[self.stage.dims.index(dim)][0]

    def _at(self, values: Mapping[str, int]) -> Domain:
        """The points of the stage at which dimensions have values."""
        found = self.domain
        for dim, value in values.items():
            form = Affine.name(dim) - value
            found = found.at_least_zero([form, -form])
        return found

    def _usual(self, parts: list[Part]) -> tuple[Part, Section] | None:
        """The part of all results but the first ones, and the section that it is."""
        for part in reversed(parts):
            section = self._section(part.expr)
            if section is not None and section.back and section.depth <= MOST_DEPTH:
                later = self.domain.at_least_zero([Affine.name(self.time) - section.depth])
                if later.is_subset(part.domain):
                    return part, section
        return None

    def _from_newest(self, section: Section) -> Section:
        """The section with samples counted from the newest one that it reads, or one that exists at 0."""
        assert self.signal is not None  # it was found with the section
        ref, indices = self.signal
        begin = next(form for form in indices if self.time in form.names()) - Affine.name(self.time)
        newer = -min(section.forward)
        if begin.is_constant:
            newer = max(newer, -begin.const)
        if newer == 0:
            return section
        self.signal = ref, tuple(form + newer if self.time in form.names() else form for form in indices)
        return Section({age + newer: each for age, each in section.forward.items()}, section.back)

    def _section(self, expr: Expr) -> Section | None:
        forward: dict[int, Expr | None] = {}
        back: dict[int, Expr | None] = {}
        for sign, term in signed_terms(expr):
            found = self._sample(term)
            if found is None or term.dtype != self.stage.dtype:
                return None
            coefficient, is_past, age = found
            ages = back if is_past else forward
            if age in ages or (age < 1 if is_past else age < 0 and self.chain is not None):
                return None
            ages[age] = negative(coefficient) if is_past == (sign > 0) else coefficient
        return Section(forward, back) if forward else None

    def _sample(self, term: Expr, at: int | None = None) -> tuple[Expr | None, bool, int] | None:
        """A product of one sample: its coefficient, whether it is a past result, and how old it is."""
        match term:
            case Load():
                found = self._age(term, at)
                return None if found is None else (None, *found)
            case Unary("-", operand):
                sample = self._sample(operand, at)
                return None if sample is None else (negative(sample[0]), *sample[1:])
            case Binary("*", left, right):
                for one, other in ((left, right), (right, left)):
                    sample = self._sample(one, at) if self._is_fixed(other) else None
                    if sample is not None:
                        factor = self._typed(other)
                        return (factor if sample[0] is None else binary("*", sample[0], factor), *sample[1:])
            case Binary("/", left, right) if self._is_fixed(right):
                sample = self._sample(left, at)
                if sample is not None:
                    above = Const(1.0, self.stage.dtype) if sample[0] is None else sample[0]
                    return (binary("/", above, self._typed(right)), *sample[1:])
        return None

    def _typed(self, factor: Expr) -> Expr:
        """A factor in the type of the results: of integers alone a quotient would be one."""
        dtype = self.stage.dtype
        if isinstance(factor, Const) and factor.dtype.weak and not isinstance(factor.value, complex):
            return Const(float(factor.value), dtype)
        return factor if factor.dtype == dtype else CastExpr(factor, dtype)

    def _age(self, load: Load, at: int | None) -> tuple[bool, int] | None:
        """Whether an element is a past result, and how many steps old; at: the step if it is a number."""
        now = {} if at is None else {self.time: Affine((), at)}
        if load.dtype != self.stage.dtype:
            return None
        if load.source.name == self.stage.name:
            age = steps_between(tuple(self.own.values()), load.indices, self.time, now)
            if age is not None:
                return True, age
        if self.signal is None and at is None and load.source.name != self.stage.name:
            moving = moving_element(load, self.time)
            if moving is not None:
                self.signal = moving  # as it is read first: others are older, or it is of no use
        if self.signal is None or load.source != self.signal[0]:
            return None
        age = steps_between(self.signal[1], load.indices, self.time, now)
        return None if age is None else (False, age)

    def _is_fixed(self, expr: Expr) -> bool:
        """Whether a coefficient is the same for all steps and channels."""
        moving = set(self.stage.dims) - {self.chain}
        for node in walk(expr):
            if isinstance(node, Variable) and node.name in moving:
                return False
            if isinstance(node, Load):
                names = {n for form in node.indices for n in form.names()}
                if node.source.name == self.stage.name or names & moving:
                    return False
        return True

    def _starts(self, parts: list[Part], section: Section) -> tuple[dict[int, Expr], bool] | None:
        """What the first results have added, or are."""
        added: list[Expr | None] = []
        values: list[Expr] = []
        same = True
        for n in range(section.depth):
            here = self._at({self.time: n})
            part = next((p for p in parts if here.is_subset(p.domain)), None)
            if part is None:
                return None
            values.append(self._now(part.expr, n))
            rest = self._rest(part.expr, n, section)
            same = same and rest is not None
            added.append(rest[0] if rest is not None else None)
        if same:
            return {n: each for n, each in enumerate(added) if each is not None}, False
        given = all(self._is_given(value) for value in values) and self.chain is None
        return (dict(enumerate(values)), True) if given else None

    def _rest(self, expr: Expr, n: int, section: Section) -> tuple[Expr | None] | None:
        """What result n has beside the samples that it should have; None where it has others."""
        forward: dict[int, Expr | None] = {}
        back: dict[int, Expr | None] = {}
        added: Expr | None = None
        for sign, term in signed_terms(expr):
            found = self._sample(term, n)
            ages = back if found is not None and found[1] else forward
            if found is not None and found[2] not in ages:
                ages[found[2]] = negative(found[0]) if found[1] == (sign > 0) else found[0]
                continue
            own = self._now(term, n)
            if not self._is_given(own) or own.dtype != self.stage.dtype:
                return None
            signed = -own if sign < 0 else own
            added = signed if added is None else binary("+", added, signed)
        wanted = ({k: v for k, v in each.items() if k <= n} for each in (section.forward, section.back))
        return (added,) if [forward, back] == list(wanted) else None

    def _now(self, expr: Expr, n: int) -> Expr:
        """An expression at step n."""
        values = {self.time: Affine((), n)}

        def leaf(node: Expr) -> Expr:
            match node:
                case Load(source, indices):
                    return Load(source, tuple(f.substitute(values) for f in indices), node.dtype, node.at)
                case Variable() if node.name == self.time:
                    return Const(n, node.dtype)
                case _:
                    return node

        return rebuild(expr, leaf)

    def _is_given(self, expr: Expr) -> bool:
        return all(not isinstance(n, Load) or n.source.name != self.stage.name for n in walk(expr))
