"""Library calls as plans: which stages a library computes, how threads share them, and the predicted time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from polymat.decide.callprices import CallPrices, alike
from polymat.decide.callshares import across_of, parallel_of
from polymat.errors import ToolchainError
from polymat.graph.aligned import Fusable
from polymat.graph.flat import flat_stage
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product, product_of_group
from polymat.graph.stage import Stage
from polymat.idiom.call import Idiom
from polymat.idiom.find import MOST_STAGES, Found, idiom_of
from polymat.idiom.librarymodel import Libraries
from polymat.idiom.libraryroutines import (
    fft_prefix,
    fft_routine_names,
    routines_called,
    supported,
)
from polymat.idiom.librarytransforms import can_transform, transform_seconds
from polymat.idiom.parts import least_of, part_seconds
from polymat.idiom.profit import call_seconds
from polymat.idiom.syrk import as_half
from polymat.idiom.transform import Transform
from polymat.machine.model import Machine
from polymat.model.extents import extent
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan, NestPlan
from polymat.tilesize.kernelplanner import plan_kernel
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.register import unrolled

TRUSTED = "own code was not measured here: the library is preferred where it takes up to a third longer"


class CallPlanner:
    """Plans of library calls for groups of one pipeline."""

    def __init__(
        self,
        pipeline: Pipeline,
        machine: Machine,
        sizes: Mapping[str, int],
        options: Options,
        threads: int,
        libraries: Libraries,
        given: Iterable[str] = (),
    ) -> None:
        self.pipeline = pipeline
        self.machine = machine
        self.sizes = sizes
        self.options = options
        self.threads = threads
        self.libraries = libraries
        self.prices = CallPrices(pipeline, machine, sizes, options, threads, libraries, frozenset(given))
        self.found: dict[tuple[str, ...], Found] = {}
        self.transforms: dict[str, TransformPlan | None] = {}

    def plan(self, stages: tuple[str, ...]) -> CallPlan | TransformPlan | None:
        """The plan of a group that consists of library calls; None when there are none for it."""
        idiom = self.idiom(stages)
        return self._transform(stages) if idiom is None else self._call(stages, idiom)

    def _call(self, stages: tuple[str, ...], idiom: Idiom) -> CallPlan | None:
        idiom = self._cheaper(idiom)
        flat = flat_stage(idiom.product, self.pipeline)
        loops = None if flat is None else self._loops(stages, flat)
        if flat is None or loops is None:
            return None
        parallel = parallel_of(idiom, loops, self.sizes, self.threads)
        kernel = self._instead(stages, flat, idiom, parallel)
        calls, other = ", ".join(map(str, idiom.calls)), "register blocks" if kernel else "loops"
        ratio = self.prices.ratio(idiom, kernel)
        least = self.prices.least(idiom, flat, loops, kernel, ratio)
        choice = self.prices.choice(idiom, flat, loops, ratio)
        if choice is not None:
            calls += f"; {other} where they are predicted to be faster, at each call"
        elif least:
            calls += f"; below {least:.3g} multiplications {other}"
        asked = choice is not None and self.prices.is_worth_asking(idiom, kernel, flat, ratio)
        price = self.prices.of_plan(idiom, flat, loops, kernel, parallel, ratio, asked=asked)
        if price.trusted:
            calls += f"; {TRUSTED}"
        return CallPlan(
            group=Group(stages),
            kind="call",
            order=(),
            parallel=parallel,
            vector=None,
            reason=calls,
            idiom=idiom,
            stage=flat,
            loops=loops if kernel is None else kernel,
            least=least,
            within=stages[:-1],
            relative=price.relative,
            alone=price.alone,
            choice=choice,
            called=price.called,
        )

    def _loops(self, stages: tuple[str, ...], flat: Stage) -> LoopPlan | None:
        """The loops that stand beside calls; None where they do not add up as these do."""
        loops = plan_stage(Group(stages), flat, self.pipeline.context)
        if loops.kind == "recurrence":
            return loops
        return unrolled(flat, loops) if loops.adds_up else None

    def merged(self, stages: tuple[str, ...]) -> MergedPlan | None:
        """A product with what scales it and adds to it, as one contraction around register blocks."""
        if len(stages) < 2 or not self.options.kernels or not self.is_hidden(stages):
            return None
        product = product_of_group([self.pipeline.stage(name) for name in stages], self.pipeline.context)
        if product is None or product.is_recurrence or not any(term.reduced for term in product.terms[:1]):
            return None
        flat = flat_stage(product, self.pipeline)
        if flat is None:
            return None
        kernel = self._kernel(Group(stages), flat)
        if kernel is None:
            return None
        relative, alone = (self._kernel_operations(kernel, product, used) for used in (self.threads, 1))
        return MergedPlan(
            group=kernel.group,
            kind=kernel.kind,
            order=kernel.order,
            parallel=kernel.parallel,
            vector=kernel.vector,
            reason=kernel.reason,
            stage=flat,
            inner=kernel,
            within=stages[:-1],
            relative=relative,
            alone=alone,
        )

    def _kernel_operations(self, kernel: KernelPlan, product: Product, threads: int) -> float:
        """The time of an operation by register blocks on so many threads, in units of one in loops."""
        seconds = self.prices.kernel_seconds(kernel, self.sizes, threads)
        return self.prices.in_operations(seconds * alike(kernel), product, threads)

    def _instead(
        self, stages: tuple[str, ...], flat: Stage, idiom: Idiom, parallel: str | None
    ) -> KernelPlan | None:
        """The register blocks that stand beside calls, of which threads have the same parts."""
        kernel = self._kernel(Group(stages), flat) if self.options.blas == "auto" else None
        return None if kernel is None else replace(kernel, across=across_of(idiom, kernel, parallel))

    def _kernel(self, group: Group, flat: Stage) -> KernelPlan | None:
        if not self.options.kernels or flat.reads_itself:
            return None
        product = (group, flat, self.pipeline.context, self.machine, self.sizes)
        return plan_kernel(*product, policy=self.options.blocks, threads=self.threads)

    def transform(self, stage: str) -> TransformPlan | None:
        """The plan of a stage that is a transform by itself, found once."""
        if stage not in self.transforms:
            is_sum = self.pipeline.stage(stage).is_reduction
            self.transforms[stage] = self._transform((stage,)) if is_sum else None
        return self.transforms[stage]

    def transforms_in(self, choice: Fusable) -> dict[str, NestPlan]:
        """The stages of tiles that are transforms for every point of the tiled dimensions."""
        found: dict[str, NestPlan] = {}
        for member in choice.members:
            plan = self.transform(member.stage)
            if plan is not None and not member.private:
                repeated = {dim for axis in plan.transform.batch for dim in axis.dims}
                if all(dim is None or dim in repeated for dim in member.dims):
                    found[member.stage] = replace(plan, parallel=None)
        return found

    def _transform(self, stages: tuple[str, ...]) -> TransformPlan | None:
        if self.options.fft == "never" or not self.is_hidden(stages):
            return None
        found = self.find(stages).transform
        if found is None or not can_transform(found):
            return None
        routines = fft_routine_names(fft_prefix(found.product.dtype.dtype))
        if self.options.fft == "auto" and not self.libraries.has("fft", routines):
            return None
        alone = self.pipeline.stage(stages[-1])
        flat = alone if found.kind == "hermitian" else flat_stage(found.product, self.pipeline)
        if flat is None:
            return None
        loops = plan_stage(Group(stages), flat, self.pipeline.context)
        if not loops.adds_up:
            return None
        parallel = found.batch[0].dims[0] if found.batch else None
        model = self.prices.model("fft")
        seconds = [transform_seconds(found, self.machine, self.sizes, n, model) for n in (self.threads, 1)]
        return TransformPlan(
            group=Group(stages),
            kind="fft",
            order=(),
            parallel=parallel,
            vector=None,
            reason=f"{found}{self._in_parts(found)}",
            transform=found,
            least=least_of(model, found.product.dtype),
            stage=flat,
            loops=loops,
            measured=self.options.fft_rigour == "measure",
            within=stages[:-1],
            relative=self.prices.in_operations(seconds[0], found.product),
            alone=self.prices.in_operations(seconds[1], found.product, 1),
        )

    def _in_parts(self, found: Transform) -> str:
        """What one transform of one axis was measured to take, as one plan and in parts, in words."""
        model = self.prices.model("fft")
        if model is None or len(found.axes) > 1:
            return ""
        times = part_seconds(found, extent(found.axes[0].length, self.sizes), model)
        return "" if times is None else f", {times[0]:.3g} s as one plan and {times[1]:.3g} s in parts"

    def find(self, stages: tuple[str, ...]) -> Found:
        """The idiom or contraction that a group may be for a library or register blocks, looked for once."""
        if stages not in self.found:
            self.found[stages] = idiom_of(stages, self.pipeline)
        return self.found[stages]

    def idiom(self, stages: tuple[str, ...]) -> Idiom | None:
        """The library calls that a group is, if there is code for them and nobody else reads its inside.

        Where calls are wanted in any case, a missing library is an error when the compiled one is loaded.
        """
        if self.options.blas == "never" or not self.is_hidden(stages):
            return None
        idiom = self.find(stages).idiom
        if idiom is None or not all(supported(call) for call in idiom.calls):
            return None
        if self.options.blas == "always":
            return idiom
        if any(call.row.loops_do for call in idiom.calls):
            return None
        return idiom if self._is_there(idiom) else None

    def _is_there(self, idiom: Idiom) -> bool:
        """Whether the library has every routine; one that cannot be used is an error when it is loaded."""
        names = [name for call in idiom.calls for name in routines_called(call)]
        try:
            return self.libraries.has("blas", names)
        except ToolchainError:
            if self.options.blas == "always":
                return True
            raise

    def _cheaper(self, idiom: Idiom) -> Idiom:
        """Half of a product with its own transpose, and a copy, where that is predicted to be quicker."""
        half = as_half(idiom, self.pipeline.extents)
        if half is None or not all(map(supported, half.calls)) or not self._is_there(half):
            return idiom
        model = self.prices.model()
        whole, halved = (
            call_seconds(each, self.machine, self.sizes, self.threads, model) for each in (idiom, half)
        )
        return half if halved < whole else idiom

    def joins(self) -> list[tuple[str, str]]:
        """Pairs of a sum and what is made of its one value that a library computes together: a norm."""
        single = [stage for stage in self.pipeline.stages if not stage.dims and not stage.is_reduction]
        pairs = [(load.source.name, stage.name) for stage in single for load in stage.loads()]
        inside = {stage.name for stage in self.pipeline.stages if stage.is_reduction and not stage.dims}
        return [pair for pair in dict.fromkeys(pairs) if pair[0] in inside and self.idiom(pair) is not None]

    def is_hidden(self, stages: tuple[str, ...]) -> bool:
        """Whether stages may be one idiom: few of them, some of them sums, only the last seen by others."""
        if len(stages) > MOST_STAGES:
            return False
        if len(stages) > 1 and not any(self.pipeline.stage(name).is_reduction for name in stages):
            return False
        inside = set(stages[:-1])
        if inside.intersection(self.pipeline.outputs):
            return False
        others = (stage for stage in self.pipeline.stages if stage.name not in stages)
        return not any(load.source.name in inside for stage in others for load in stage.loads())
