"""What linear steps in blocks are written with: the arrays of a block, and sections and stages over them.

The six arrays of a block of steps, with the planes that its steps and what comes behind them read: the slices
that the block is about, multiples and sources of its rows, sources of finished slices, the source of each
crossing row, and the rows that were gathered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.latesums import stage_over
from polymat.graph.linearnames import BlockNames, block_names
from polymat.graph.linearrows import LinearStep
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray, Part, ScalarInput, Stage
from polymat.graph.stepwise import ArrayView, HeldArray, Steps, StepSection
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import rebuild
from polymat.lang.types import Long, ScalarType
from polymat.poly.domain import Domain

ZERO = Affine()


@dataclass(frozen=True, slots=True, eq=False)
class BlockFrame:
    """The arrays of a block, and what its sections and stages are made of.

    old: the section whose steps run in blocks of so many.  known: all that is known at a step of a block.
    arrays: those that stages read, by what they are, with their planes.  held: those of a block.
    """

    old: StepSection[Pipeline]
    found: LinearStep
    every: int
    names: BlockNames
    known: Domain
    arrays: Mapping[str, tuple[InputArray, ArrayView]]
    held: Mapping[str, HeldArray]

    @property
    def level(self) -> Pipeline:
        """The pipeline of a step."""
        assert isinstance(self.old.level, Pipeline)
        return self.old.level

    @property
    def steps(self) -> Steps:
        """All steps."""
        assert self.old.steps is not None
        return self.old.steps

    @property
    def first(self) -> Affine:
        """The first step of the block."""
        return Affine.name(self.names.begin)

    @property
    def stop(self) -> Affine:
        """The last step of the block."""
        return Affine.name(self.names.end)

    @property
    def shift(self) -> Affine:
        """The first slice of the block."""
        return self.first + self.found.slices.front

    @property
    def around(self) -> Domain:
        """All that is known where a block is taken as a whole: no number of a step."""
        return self.known.raised(self.steps.name).onto(())

    @property
    def of_rows(self) -> tuple[str, ...]:
        """The arrays of sources: of slices behind the block, and where they move too, of those in front."""
        return (self.names.source, self.names.moved) if self.found.finished else (self.names.source,)

    def places(self) -> tuple[Affine, Affine]:
        """The places of the steps of a block, and of its slices, in it."""
        return ZERO, Affine((), self.every - 1)

    def rows_and_places(self) -> tuple[tuple[Affine, Affine], ...]:
        """The rows, and places."""
        return self.found.state.bounds[0], self.places()

    def later(self) -> tuple[Affine, Affine]:
        """The slices behind a block."""
        return self.stop + self.found.slices.front + 1, self.found.state.bounds[1][1]

    def load(self, key: str, indices: Sequence[Affine]) -> Load:
        array, _ = self.arrays[key]
        return Load(array.ref, tuple(indices), array.dtype, self.found.state.at)

    def sizes(self, *, within: bool) -> tuple[ScalarInput, ...]:
        kept = (size for size in self.level.sizes if within or size.name != self.steps.name)
        return (*kept, ScalarInput(self.names.begin, Long), ScalarInput(self.names.end, Long))

    def section(
        self,
        stages: Sequence[Stage],
        outputs: Sequence[tuple[str, ArrayView]],
        steps: Steps | None = None,
        states: Mapping[str, str] | None = None,
    ) -> StepSection[Pipeline]:
        known = {array.name: (array, view) for array, view in self.arrays.values()}
        loads = (load for stage in stages for load in stage.loads() if load.source.is_input)
        read = [known[name] for name in dict.fromkeys(load.source.name for load in loads)]
        context = self.around if steps is None else self.known
        level = replace(
            self.level,
            inputs=tuple(array for array, _ in read),
            sizes=self.sizes(within=steps is not None),
            stages=tuple(stage_over(stage, context.params) for stage in stages),
            outputs=tuple(name for name, _ in outputs),
            context=context,
            states=states or {},
            newest={},
            coming=None,
        )
        return StepSection(level, tuple(view for _, view in read), tuple(view for _, view in outputs), steps)

    def stage(
        self,
        name: str,
        dims: Sequence[str],
        bounds: Sequence[tuple[Affine, Affine]],
        pieces: Sequence[tuple[Domain, Expr]],
        dtype: ScalarType | None = None,
    ) -> Stage:
        """A stage of the same place in the program as the state."""
        state = self.found.state
        params = pieces[0][0].params
        domain = Domain.box(params, tuple(dims), bounds)
        parts = tuple(Part(where, None, expr, state.at) for where, expr in pieces if not where.is_empty())
        return replace(
            state,
            name=name,
            dtype=dtype or state.dtype,
            dims=tuple(dims),
            bounds=tuple(bounds),
            domain=domain,
            parts=parts,
            op=None,
            accumulations=(),
            circle=(),
        )

    def in_panel(self, node: Expr) -> Expr:
        """A load of the state as one of the slices of the block; helpers have these alone."""
        if not isinstance(node, Load):
            return node
        if node.source.name == self.found.before:
            row, column = node.indices
            return self.load(f"{self.names.panel} before", (row, column - self.shift))
        if node.source.name in {each.name for each in self.found.helpers}:
            return replace(node, indices=(node.indices[0] - self.shift,))
        return node

    def mapped(self, expr: Expr) -> Expr:
        """An expression of what is no slice behind the step."""
        return rebuild(expr, self.in_panel)


def block_frame(section: StepSection[Pipeline], found: LinearStep, every: int, taken: Set[str]) -> BlockFrame:
    """The frame of a block of so many steps of a section.  taken: names of everything around."""
    level, steps = section.level, section.steps
    assert isinstance(level, Pipeline)
    assert steps is not None
    names = block_names(steps.name, found, taken)
    (first,), (last,) = {*steps.first}, {*steps.last}
    step, begin, end = map(Affine.name, (steps.name, names.begin, names.end))
    whole = begin + (every - 1) - end
    known = level.context.with_params((names.begin, names.end)).at_least_zero(
        [step - begin, end - step, begin - first, last - end, whole, -whole]
    )
    held = _held(found, names, every)
    planes = {"before": step - 1, "last": end, "all": None}
    arrays = {
        f"{each.name} {word}": (_planes_of(each, names, word), ArrayView(each.name, at))
        for each in held
        for word, at in planes.items()
    }
    arrays |= {array.name: (array, ArrayView(array.name)) for array in level.inputs}
    state, unused = found.state, () if found.finished else (names.moved,)
    every_held = (*held, HeldArray(state.name, state.dtype, "output", state.extents))
    kept = {each.name: each for each in every_held if each.name not in unused}
    return BlockFrame(section, found, every, names, known, arrays, kept)


def _held(found: LinearStep, names: BlockNames, every: int) -> tuple[HeldArray, ...]:
    """The arrays of a block."""
    state, many, first = found.state, Affine((), every), Affine.name(names.begin)
    rows, columns = state.extents
    before, two = first - 1, Affine((), 2)
    return (
        HeldArray(names.panel, state.dtype, "workspace", (rows, many), before, two, many + 1),
        HeldArray(names.multiples, state.dtype, "workspace", (rows, many), before, two, many + 1),
        HeldArray(names.source, Long, "workspace", (rows,), before, two, many + 1),
        HeldArray(names.moved, Long, "workspace", (rows,), before, two, many + 1),
        HeldArray(names.crossing, Long, "workspace", (), first, many, many),
        HeldArray(names.gathered, state.dtype, "workspace", (many, columns)),
    )


def _planes_of(held: HeldArray, names: BlockNames, word: str) -> InputArray:
    """An array of a block as stages read it: at one step, or all of it."""
    planes = (held.count,) if word == "all" and held.origin is not None else ()
    name = names.read[f"{held.name} {word}"]
    return InputArray(name, held.dtype, (*planes, *held.extents), checked=True)
