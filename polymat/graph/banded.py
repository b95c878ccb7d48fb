"""Many steps of a circle at a time: a chain of copies of its stages, run once for so many steps.

before:  u(t, i) = (u(t - 1, i - 1) + u(t - 1, i + 1)) / 2, of which u(T, i) is read
after:   c(q, i) reads w(q - 1, .), w(q, i) reads c(q, .): bands of two steps, q = 1 .. T // 2;
         r(t, i) = w(T // 2, i) at t = 2 * (T // 2), and as u behind that; r(T, i) is read
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.circles import StepAxis
from polymat.graph.circlesteps import CircleSteps, marked, same_step
from polymat.graph.heldarrays import uses_of
from polymat.graph.onestep import Relink, at_step
from polymat.graph.peeled import peeled
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import map_expressions
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Bounds, Part, Ref, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import rebuild
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class Bandable:
    """A circle, or a stage that reads itself, whose steps may run in bands.

    first, last: the steps of bands, at which the same cases hold.  depths: how far back each stage is read.
    """

    steps: CircleSteps
    first: Affine
    last: Affine
    depths: Mapping[str, int]

    def has(self, size: int) -> bool:
        """Whether there are bands of so many steps at any sizes, and hold what is read back."""
        room = self.last - self.first + 1 - size
        some = not self.steps.context.at_least_zero([room]).is_empty()
        return some and size >= max(self.depths.values())

    def bands(self, size: int) -> Affine:
        """How many whole bands of so many steps there are."""
        return (self.last - self.first + 1).floordiv(size)


def bandable(pipeline: Pipeline, steps: CircleSteps) -> Bandable | None:
    """Say what bands have to know of a circle; None where it cannot have them.

    Its stages are computed point by point, none reads itself at the same step, the steps are the first
    dimension of each, and of each the last states alone are read.
    """
    plain = StepAxis(0)
    if any(axis != plain for axis in steps.axes.values()) or any(s.is_reduction for s in steps.members):
        return None
    if any(len(group) > 1 or _reads_itself(group[0]) for group in same_step(steps)):
        return None
    front, back = peeled(steps)
    depths: dict[str, int] = {}
    for member in steps.members:
        depth = _depth(pipeline, steps, member, back)
        if depth is None:
            return None
        depths[member.name] = depth
    found = Bandable(steps, steps.first + front, steps.last - back, depths)
    started = steps.context.at_least_zero([found.first - 2 - found.last]).is_empty()
    return found if started and front >= max(depths.values()) > 0 else None


def _depth(pipeline: Pipeline, steps: CircleSteps, member: Stage, back: int) -> int | None:
    """How many of the last states of bands are read, by steps behind or by others; None where that is open.

    back: steps behind the last band, at least.
    """
    distances, uses = steps.distances[member.name], uses_of(pipeline, steps, member)
    if uses.anywhere or member.name in pipeline.outputs:
        return None
    depths = [0]
    for form in uses.at:
        apart = steps.last - form
        if not apart.is_constant:
            return None
        depths.append(apart.const + 1 - back)
    for distance in distances:
        if distance is None:
            return None
        depths.append(distance)
    return max(depths)


def _reads_itself(stage: Stage) -> bool:
    return any(load.source.name == stage.name and not load.source.is_input for load in stage.loads())


def banded(pipeline: Pipeline, chosen: Bandable, size: int) -> Pipeline:
    """The pipeline with bands of so many steps, at least as many as are read back."""
    return _Bands(pipeline, chosen, size).run()


class _Bands:
    """The work for one circle.

    early: stages of the steps before bands.  copies: of each stage within a band, by its place there.
    late: stages of the steps behind bands.
    """

    def __init__(self, pipeline: Pipeline, chosen: Bandable, size: int) -> None:
        self.pipeline = pipeline
        self.chosen = chosen
        self.size = size
        self.steps = chosen.steps
        self.taken = {*names_taken(pipeline), *(dim for stage in self.steps.members for dim in stage.dims)}
        self.band = self._name("band")
        names = [member.name for member in self.steps.members]
        self.early = {name: self._name(f"{name}_first") for name in names}
        self.late = {name: self._name(f"{name}_rest") for name in names}
        places = range(1, size + 1)
        self.copies = {(name, k): self._name(f"{name}_{k}") for k in places for name in names}

    def _name(self, wish: str) -> str:
        name = free_name(wish, self.taken)
        self.taken.add(name)
        return name

    def run(self) -> Pipeline:
        """Put the stages of bands in the place of those of the circle."""
        members = {member.name for member in self.steps.members}
        made = [*self._early(), *self._inside(), *self._late()]
        stages: list[Stage] = []
        for stage in self.pipeline.stages:
            if stage.name in members:
                stages += made
                made = []
            else:
                stages.append(_renamed(stage, self.late))
        return replace(self.pipeline, stages=marked(stages))

    # ---- before and behind the bands ----

    def _early(self) -> Iterator[Stage]:
        """The steps before the bands."""
        for member in self.steps.members:
            time = Affine.name(member.dims[0])
            yield self._restricted(member, self.early, [self.chosen.first - 1 - time], None)

    def _late(self) -> Iterator[Stage]:
        """The last states of the bands, and the steps behind them."""
        begin = self.chosen.first + self.chosen.bands(self.size).scale(self.size)
        for member in self.steps.members:
            time, depth = Affine.name(member.dims[0]), self.chosen.depths[member.name]
            behind = self._restricted(member, self.late, [time - begin], begin - depth)
            states = [self._state(member, behind, begin - 1 - back, back) for back in range(depth)]
            yield replace(behind, parts=(*states, *behind.parts))

    def _restricted(
        self, member: Stage, names: Mapping[str, str], limits: list[Affine], low: Affine | None
    ) -> Stage:
        """A stage at some of its steps, with other names; low: where its array begins, else where it ends."""
        context, last = self.pipeline.context, self.chosen.first - 1
        parts = tuple(
            replace(part, domain=domain, condition=None, fills=False)
            for part in member.parts
            if not (domain := part.domain.at_least_zero(limits)).assume(context).is_empty()
        )
        first, *others = member.bounds
        span = (first[0], last) if low is None else (low, first[1])
        time = Affine.name(member.dims[0])
        domain = member.domain.at_least_zero([last - time] if low is None else [time - low])
        stage = replace(member, bounds=(span, *others), domain=domain, parts=parts, circle=())
        return replace(_renamed(stage, names), name=names[member.name])

    def _state(self, member: Stage, behind: Stage, step: Affine, back: int) -> Part:
        """The state that the last band left for a step."""
        time = Affine.name(member.dims[0])
        where = behind.domain.at_least_zero([step - time, time - step])
        rest = tuple(map(Affine.name, member.dims[1:]))
        ref = Ref(self.copies[member.name, self.size - back], member.dtype, is_input=False)
        load = Load(ref, (self.chosen.bands(self.size), *rest), member.dtype, member.at)
        return Part(where, None, load, member.at)

    # ---- the bands ----

    def _inside(self) -> Iterator[Stage]:
        """The copies of all stages, of the first step of a band first."""
        count, band = self.chosen.bands(self.size), Affine.name(self.band)
        wide = self.pipeline.context.with_params((self.band,))
        context = wide.at_least_zero([band - 1, count - band])
        for place in range(1, self.size + 1):
            step = self.chosen.first - 1 + (band - 1).scale(self.size) + place
            for member in self.steps.members:
                copy = at_step(member, StepAxis(0), step, context, self._relink(place, step))
                if copy is None:
                    continue
                back = self.size - place
                kept = back if back < self.chosen.depths[member.name] else None
                yield self._raised(member, copy, context, self.copies[member.name, place], kept)

    def _relink(self, place: int, step: Affine) -> Relink:
        """What loads become in the copies of one place of a band."""

        def relink(load: Load, indices: tuple[Affine, ...]) -> Load:
            name = load.source.name
            if load.source.is_input or name not in self.early:
                return Load(load.source, indices, load.dtype, load.at)
            at = place - (step - indices[0]).const
            earlier = at < 1
            ref = Ref(self.copies[name, at + self.size * earlier], load.dtype, is_input=False)
            band = Affine.name(self.band) - int(earlier)
            return Load(ref, (band, *indices[1:]), load.dtype, load.at)

        return relink

    def _raised(self, member: Stage, copy: Stage, context: Domain, name: str, kept: int | None) -> Stage:
        """A copy with the band as its first dimension; kept: how far from the end of bands, which stay.

        Those that stay are there before the first band, too.
        """
        low = Affine() if kept is not None else Affine((), 1)
        span: Bounds = ((low, self.chosen.bands(self.size)),)
        dims, bounds = (self.band, *copy.dims), (*span, *copy.bounds)
        parts = [
            replace(
                part, domain=part.domain.assume(context).raised(self.band).over(self.pipeline.context.params)
            )
            for part in copy.parts
        ]
        domain = copy.domain.assume(context).raised(self.band).over(self.pipeline.context.params)
        if kept is not None:
            before = self.chosen.first - 1 - kept
            band, outer = Affine.name(self.band), self.pipeline.context.params
            there = member.domain.sliced(member.dims[0], before).over(context.params)
            there = there.at_least_zero([band, -band]).raised(self.band).over(outer)
            ref = Ref(self.early[member.name], member.dtype, is_input=False)
            indices = (before, *(Affine.name(dim) for dim in copy.dims))
            load = Load(ref, indices, member.dtype, member.at)
            parts.insert(0, Part(there, None, load, member.at))
            domain = domain.union(there)
        return replace(
            copy, name=name, dims=dims, bounds=bounds, domain=domain, parts=tuple(parts), circle=()
        )


def _renamed(stage: Stage, names: Mapping[str, str]) -> Stage:
    """A stage that reads others in the place of some."""

    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load) and not node.source.is_input and node.source.name in names:
            ref = Ref(names[node.source.name], node.dtype, is_input=False)
            return Load(ref, node.indices, node.dtype, node.at)
        return node

    return map_expressions(stage, lambda expr: rebuild(expr, leaf))
