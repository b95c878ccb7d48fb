"""What linear steps in blocks are written with: the arrays of a block, and sections and stages over them.

The six arrays of a block of steps, with the planes that its steps and what comes behind them read: the slices
that the block is about, multiples and sources of its rows, sources of finished slices, the source of each
crossing row, and the rows that were gathered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.graph.latesums import stage_over
from polymat.graph.linearrows import LinearStep
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name
from polymat.graph.stage import InputArray, Part, ScalarInput, Stage
from polymat.graph.stepwise import ArrayView, HeldArray, Steps, StepSection
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import rebuild
from polymat.lang.types import Long, ScalarType
from polymat.poly.domain import Domain

ZERO = Affine()


class BlockFrame:
    """The arrays of a block, and what its sections and stages are made of."""

    def __init__(
        self, section: StepSection[Pipeline], found: LinearStep, every: int, taken: set[str]
    ) -> None:
        assert section.steps is not None
        assert isinstance(section.level, Pipeline)
        self.old, self.found, self.every, self.taken = section, found, every, taken
        self.level, self.steps = section.level, section.steps
        self.step, state = section.steps.name, found.state
        self.begin, self.end = (self.free(f"{self.step}_{word}") for word in ("from", "upto"))
        self.first, self.stop = map(Affine.name, (self.begin, self.end))
        self.shift = self.first + found.slices.front  # the first slice of the block
        names = ("slices", "multiples", "source", "moved", "crossing", "gathered")
        self.panel, self.multiples, self.source, self.moved, self.crossing, self.gathered = (
            self.free(f"{state.name}_{name}") for name in names
        )
        self.depth = self.free(f"{self.step}_in")  # the dimension of the steps of a block
        self.known = self._context()
        self.arrays: dict[str, tuple[InputArray, ArrayView]] = {}
        self.held = self._held()

    def free(self, name: str) -> str:
        found = free_name(name, self.taken)
        self.taken.add(found)
        return found

    def _context(self) -> Domain:
        known = self.level.context.with_params((self.begin, self.end))
        step, (first,), (last,) = Affine.name(self.step), {*self.steps.first}, {*self.steps.last}
        whole = self.first + (self.every - 1) - self.stop
        return known.at_least_zero(
            [step - self.first, self.stop - step, self.first - first, last - self.stop, whole, -whole]
        )

    @property
    def around(self) -> Domain:
        """All that is known where a block is taken as a whole: no number of a step."""
        return self.known.raised(self.step).onto(())

    @property
    def of_rows(self) -> tuple[str, ...]:
        """The arrays of sources: of slices behind the block, and where they move too, of those in front."""
        return (self.source, self.moved) if self.found.finished else (self.source,)

    def places(self) -> tuple[Affine, Affine]:
        """The places of the steps of a block, and of its slices, in it."""
        return ZERO, Affine((), self.every - 1)

    def rows_and_places(self) -> tuple[tuple[Affine, Affine], ...]:
        """The rows, and places."""
        return self.found.state.bounds[0], self.places()

    def later(self) -> tuple[Affine, Affine]:
        """The slices behind a block."""
        return self.stop + self.found.slices.front + 1, self.found.state.bounds[1][1]

    # ---- arrays ----

    def _held(self) -> dict[str, HeldArray]:
        state, many = self.found.state, Affine((), self.every)
        rows, columns = state.extents
        before, two = self.first - 1, Affine((), 2)
        made = (
            HeldArray(self.panel, state.dtype, "workspace", (rows, many), before, two, many + 1),
            HeldArray(self.multiples, state.dtype, "workspace", (rows, many), before, two, many + 1),
            HeldArray(self.source, Long, "workspace", (rows,), before, two, many + 1),
            HeldArray(self.moved, Long, "workspace", (rows,), before, two, many + 1),
            HeldArray(self.crossing, Long, "workspace", (), self.first, many, many),
            HeldArray(self.gathered, state.dtype, "workspace", (many, columns)),
        )
        for held in made:
            for word, step in (("before", Affine.name(self.step) - 1), ("last", self.stop), ("all", None)):
                planes = (held.count,) if step is None and held.origin is not None else ()
                name = self.free(f"{held.name}_{word}")
                array = InputArray(name, held.dtype, (*planes, *held.extents), checked=True)
                self.arrays[f"{held.name} {word}"] = (array, ArrayView(held.name, step))
        for array in self.level.inputs:
            self.arrays[array.name] = (array, ArrayView(array.name))
        out = HeldArray(state.name, state.dtype, "output", state.extents)
        unused = () if self.found.finished else (self.moved,)
        return {held.name: held for held in (*made, out) if held.name not in unused}

    def load(self, key: str, indices: Sequence[Affine]) -> Load:
        array, _ = self.arrays[key]
        return Load(array.ref, tuple(indices), array.dtype, self.found.state.at)

    def sizes(self, *, within: bool) -> tuple[ScalarInput, ...]:
        kept = (size for size in self.level.sizes if within or size.name != self.step)
        return (*kept, ScalarInput(self.begin, Long), ScalarInput(self.end, Long))

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
            return self.load(f"{self.panel} before", (row, column - self.shift))
        if node.source.name in {each.name for each in self.found.helpers}:
            return replace(node, indices=(node.indices[0] - self.shift,))
        return node

    def mapped(self, expr: Expr) -> Expr:
        """An expression of what is no slice behind the step."""
        return rebuild(expr, self.in_panel)
