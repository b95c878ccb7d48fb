"""How products are computed at some sizes, for `Compiled.explain(sizes=)`: what each thread decides.

Generated code decides when it runs, by the same table that is asked here (`polymat.product.ways`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.errors import counted
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.team import BLOCKS, TeamCost
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.registerblocks import own_kernel
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.product.shares import Share
from polymat.tilesize.kernelplanner import blocking_of, share_operations, shares_of
from polymat.tilesize.pace import counted_work


@dataclass(frozen=True, slots=True)
class ProductReport:
    """How one product of a group is computed, by one thread or by several that share it.

    sizes: at which.  stages: of the group.  operands: the arrays that are multiplied.  way: its name in
    `polymat.product.ways`.  described: the same in words.  threads: how many compute it so.  part: how much
    they have of the dimension that threads share, empty where one has all.  packed: the operands that are
    copied.  rows, columns, depth: of the blocks.  operations: its price, in operations at the peak of a
    thread.  seconds: that these take.  otherwise: the routines that are called where they are quicker.
    """

    sizes: Mapping[str, int]
    stages: tuple[str, ...]
    operands: tuple[str, str]
    way: str
    described: str
    threads: int
    part: Mapping[str, int]
    packed: tuple[str, ...]
    rows: int
    columns: int
    depth: int
    operations: float
    seconds: float
    otherwise: tuple[str, ...] = ()

    def __str__(self) -> str:
        of_part = "".join(f", {length} of {dim}" for dim, length in self.part.items())
        who = f"{counted(self.threads, 'thread')}{of_part}"
        sizes = ", ".join(f"{name} {size}" for name, size in self.sizes.items())
        at = f"{' + '.join(self.stages)}{f' at {sizes}' if sizes else ''}"
        packed = f"packs {' and '.join(self.packed)}" if self.packed else "packs nothing"
        text = (
            f"{at}, {' times '.join(self.operands)} on {who}: {self.described}; {packed}, "
            f"blocks of {self.rows} x {self.columns} x {self.depth}, "
            f"{self.operations:.3g} operations, {self.seconds:.3g} s"
        )
        return f"{text}; unless {', '.join(self.otherwise)} is quicker" if self.otherwise else text


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """The products of a compilation, to be asked about.

    estimates: sizes that the user said something of, where whoever asks gives none.
    """

    pipeline: Pipeline
    schedule: Schedule
    machine: Machine
    options: Options
    estimates: Mapping[str, int]

    def at(self, sizes: Mapping[str, int], threads: int) -> tuple[ProductReport, ...]:
        """How each is computed at these sizes on so many threads, those that do the same together."""
        known = assumed_sizes(self.pipeline, {**self.estimates, **sizes})
        return tuple(report for plan in self.schedule.plans for report in self._of_plan(plan, known, threads))

    def _of_plan(self, plan: Plan, sizes: Mapping[str, int], threads: int) -> Iterator[ProductReport]:
        kernel = own_kernel(plan)
        if kernel is None:
            return
        stages = [self.pipeline.stage(name) for name in plan.group.stages]
        team = _team(stages, sizes, threads, self.options, self.schedule.team)
        calls = plan.routines if plan.library == "blas" else ()
        for found in kernel.contraction.products:
            each = replace(kernel, contraction=found)
            parts = shares_of(each, sizes, team)
            for share in dict.fromkeys(tuple(part.items()) for part in parts):
                alike = sum(tuple(part.items()) == share for part in parts)
                report = self._of_share(each, sizes, dict(share), team)
                yield replace(report, stages=plan.group.stages, threads=alike, otherwise=calls)

    def _of_share(
        self, plan: KernelPlan, sizes: Mapping[str, int], share: Share, threads: int
    ) -> ProductReport:
        made, found = blocking_of(plan, sizes, share=share), plan.contraction
        names = (found.left.source, found.right.source)
        packs = (made.packs_left, made.packs_right)
        price = share_operations(plan, sizes, share, threads)
        return ProductReport(
            sizes=dict(sizes),
            stages=plan.group.stages,
            operands=names,
            way=made.way.name.lower(),
            described=made.way.value,
            threads=1,
            part={dim: int(length) for dim, length in share.items()},
            packed=tuple(name for name, packed in zip(names, packs, strict=True) if packed),
            rows=made.rows,
            columns=made.columns,
            depth=made.depth,
            operations=price,
            seconds=price / self.machine.peak_flops(plan.element_bytes, 1),
        )


def _team(
    stages: Sequence[Stage], sizes: Mapping[str, int], threads: int, options: Options, cost: TeamCost
) -> int:
    """How many pieces the work of some stages is cut into, as `codegen.nestshares` writes it."""
    work = sum(counted_work(stage, sizes) for stage in stages)
    threshold = options.parallel_threshold
    if threshold is not None:
        return 1 if work < threshold else threads
    awake, _ = cost.worth(cost.speed([stage.name for stage in stages], BLOCKS))
    return threads if work * (threads - 1) >= awake * threads else 1
