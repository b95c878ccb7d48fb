"""From a schedule to a program: one C function a nest, and the functions that the library exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from polymat.codegen.c.abi import Signature, mark
from polymat.codegen.c.bounds import named_bounds
from polymat.codegen.c.cexpr import table_name
from polymat.codegen.c.cnames import Names, is_macro_like
from polymat.codegen.c.ctree import CFunction, Constants, File
from polymat.codegen.c.integers import is_converted_back
from polymat.codegen.c.literals import literal
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.entry import Entry
from polymat.codegen.functions.elementary import rearranges
from polymat.codegen.groupcode import GroupCode
from polymat.codegen.header import header_text, public_function
from polymat.codegen.inplace import aliases, inplace_pairs
from polymat.codegen.loops.checkedrows import checked_rows, with_checks
from polymat.codegen.loops.joinedstrips import joined_strip
from polymat.codegen.loops.merged import merged_nest
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.positionnests import position_nest
from polymat.codegen.loops.shortsizes import for_short_sizes
from polymat.codegen.loops.stagecode import NestMaker, StageWriter
from polymat.codegen.loops.steppedblocks import SteppedBlocks
from polymat.codegen.memory.slots import shared_slots
from polymat.codegen.memory.storage import Buffer, buffers
from polymat.codegen.products.eliminationwriter import elimination_nest
from polymat.codegen.products.epiloguewriter import epilogue_nest
from polymat.codegen.products.pairswriter import product_nest
from polymat.codegen.products.schemewriter import scheme_nest
from polymat.codegen.program import Program
from polymat.codegen.routines.calls import call_nest
from polymat.codegen.routines.librarylinks import routines_of
from polymat.codegen.segmentwriter import SegmentWriter
from polymat.codegen.signals.filters import filter_nest
from polymat.codegen.signals.recursivewriter import recursive_nest
from polymat.codegen.signals.transforms import transform_nest
from polymat.codegen.signature import make_signature
from polymat.codegen.tiles import TileWriter
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointsteps import PointSteps
from polymat.graph.segmented import SegmentedSteps
from polymat.graph.skewed import SkewedSteps
from polymat.graph.stage import Stage
from polymat.graph.stepwise import Together
from polymat.graph.waits import behind_front
from polymat.lang.sharing import written_size
from polymat.lang.table import Lookup, Table
from polymat.lang.traverse import children, walk
from polymat.options import Options
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan, FilterPlan, RecursivePlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan, NestPlan
from polymat.plan.position import PositionPlan
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import TilePlan

_LARGE = 1000  # operations of one expression
# What takes long and gains nothing in so many operations in a line.
_FOR_LARGE = (
    *("-fno-gcse", "-fno-tree-pre", "-fno-tree-pta", "-fira-algorithm=priority"),
    *("-fno-rerun-cse-after-loop", "-fno-schedule-insns2", "-fno-expensive-optimizations"),
)
_MOST_NAMED = 4  # arrays of the workspace in a message
# How the nests of plans that are no loops are written, by the type of the plan.
MAKERS: Mapping[type[NestPlan], NestMaker] = {
    KernelPlan: product_nest,
    CallPlan: call_nest,
    TransformPlan: transform_nest,
    FilterPlan: filter_nest,
    RecursivePlan: recursive_nest,
    MergedPlan: merged_nest,
    EpiloguePlan: epilogue_nest,
    EliminationPlan: elimination_nest,
    SchemePlan: scheme_nest,
    PositionPlan: position_nest,
}


def lower(
    schedule: Schedule,
    name: str,
    options: Options,
    *,
    clocked: bool = False,
    within: bool = False,
    together: Together | None = None,
) -> Program:
    """The program that carries out a schedule.

    clocked: with a clock that notes when each group ends, which an audit reads.  within: a call of it is a
    part of another one, which says when the threads are needed no more.  together: how its steps run
    together, for which there is a function beside these loops, or instead of them.
    """
    pipeline = schedule.grouping.pipeline
    storage, inplace = buffers(pipeline, schedule), inplace_pairs(pipeline, schedule)
    signature = make_signature(pipeline, name, storage, inplace)
    names = _names(storage, signature, [kernel.name for kernel in options.microkernels])
    needs = _first_needs(pipeline, options)
    stages = StageWriter(pipeline, storage, names, needs, aliases(pipeline, schedule, inplace), MAKERS)
    checking = not (within or schedule.kept) and not isinstance(together, SkewedSteps)
    groups = [] if isinstance(together, PointSteps) else _joined(schedule, stages, checks=checking)
    slots, team = shared_slots(schedule, storage), schedule.team
    entry = Entry(pipeline, storage, slots, names, needs, options, team, schedule.kept, clocked, within)
    called = [*_called(entry, groups, signature, stages, together)]
    signature = replace(signature, routines=routines_of(needs))
    written = for_short_sizes([group.functions for group in groups], names, schedule.short)
    code = (*named_bounds((f for functions in written for f in functions), needs), *called)
    comment = f"{name}: generated by polymat\n{schedule.summary}"
    undefine = (*names.macro_like(), *([name] if is_macro_like(name) else []))
    marks = (("_pm_signature", mark(signature)), *_named_intermediates(storage))
    texts, tables = tuple(stages.texts.values()), _tables(pipeline)
    file = File(comment, frozenset(needs), undefine, code, tables, texts, marks=marks)
    owned = tuple((*(f.name for f in made), of.name) for made, of in zip(written, groups, strict=True))
    header = header_text(signature, names)
    return Program(file, signature, header, _flags(schedule), (*storage.values(),), names, owned)


def _called(
    entry: Entry,
    groups: Sequence[GroupCode],
    signature: Signature,
    stages: StageWriter,
    together: Together | None,
) -> Iterator[CFunction]:
    """The functions that run groups: those of some rows or points, if any, and those that are exported."""
    if isinstance(together, SegmentedSteps):
        run = [entry.pipeline.stage(name) for name in together.segments.stages]
        yield from SegmentWriter(stages, run, together, entry.unpack(signature.sizes)).functions()
    if isinstance(together, PointSteps):
        blocks = SteppedBlocks(stages.bodies, entry.pipeline.stages, together)
        yield blocks.function(entry.unpack(signature.sizes))
        yield entry.work_function(signature.sizes)
        yield public_function(signature, entry.names, entry.worth)
        return
    small = entry.small_calls(groups, signature.sizes)
    if isinstance(together, SkewedSteps):
        yield entry.rows_function(groups, signature.sizes, together.order)
    if entry.pipeline.waiting is not None:
        yield entry.slices_function(groups, signature.sizes)
    yield entry.work_function(signature.sizes)
    yield from entry.functions(groups, signature.sizes, small)
    yield public_function(signature, entry.names, entry.worth, small)


def _first_needs(pipeline: Pipeline, options: Options) -> set[Need]:
    """What a program needs of the library whatever its groups are."""
    kinds = {array.dtype.kind for array in pipeline.inputs} | {stage.dtype.kind for stage in pipeline.stages}
    needs: set[Need] = {Piece.TEAM, Piece.PROCESSOR}
    if "c" in kinds:
        needs.add(Piece.PRODUCTS)
    if options.math == "libm" or rearranges(options.cflags):
        needs.add(Piece.LIBM)
    return needs


def _names(storage: Mapping[str, Buffer], signature: Signature, functions: Sequence[str]) -> Names:
    """The names of all that is handed to a call, given out first so that they stay as the user wrote them."""
    names = Names(functions)
    for kind, items in (
        ("array", storage),
        ("size", [s.name for s in signature.sizes]),
        ("scalar", [s.name for s in signature.scalars]),
    ):
        for item in items:
            names.get(kind, item)
    return names


def _group(schedule: Schedule, stages: StageWriter, number: int, *, checks: bool) -> GroupCode:
    """The functions of one group.

    checks: whether loops may look at what they read: an error in the first group leaves the others undone.
    """
    plan = schedule.plans[number]
    if isinstance(plan, TilePlan):
        return GroupCode(number + 1, plan, (), TileWriter(stages, plan, number + 1).code())
    pipeline = schedule.grouping.pipeline
    stage = pipeline.stage(plan.group.stages[-1])
    slices = pipeline.waiting
    if slices is None or slices.place(stage.name) is None:
        nests = _nests(stage, plan, stages, checks=checks and isinstance(plan, LoopPlan))
        return GroupCode(number + 1, plan, nests, None)
    strip = stages.ranged(behind_front(stage, slices), plan, [plan.parallel], "strip")
    return GroupCode(number + 1, plan, stages.nests(stage, plan), None, strip)


def _nests(stage: Stage, plan: NestPlan, writer: StageWriter, *, checks: bool) -> tuple[NestFunction, ...]:
    """The nests of a stage by itself, with checks of what it alone reads, where there are any."""
    checked = checked_rows(stage, writer) if checks else None
    if checked is None:
        return writer.nests(stage, plan)
    looking = writer.with_storage(writer.storage)
    looking.checks = checked
    return tuple(with_checks(nest, checked, writer) for nest in looking.nests(stage, plan))


def _joined(schedule: Schedule, writer: StageWriter, *, checks: bool) -> list[GroupCode]:
    """All groups, with strips of slices that wait of two stages in one pass where the schedule says so."""
    count = len(schedule.plans)
    found = [_group(schedule, writer, k, checks=checks and k == 0) for k in range(count)]
    slices = schedule.grouping.pipeline.waiting
    numbers = {group.plan.group.stages[-1]: k for k, group in enumerate(found)}
    for joined in schedule.joined:
        first, second = numbers[joined.made], numbers[joined.added]
        plan = found[first].plan
        assert isinstance(plan, LoopPlan), "strips are loops"
        assert slices is not None, "strips are of slices that wait"
        strip = joined_strip(writer, joined, plan, slices)
        found[first] = replace(found[first], strip=strip)
        found[second] = replace(found[second], within=found[first].number)
    return found


def _named_intermediates(storage: Mapping[str, Buffer]) -> Iterator[tuple[str, str]]:
    """What a message calls the arrays of the workspace, for who finds no memory for them."""
    places = ("workspace", "scratchpad")
    names = [buffer.name for place in places for buffer in storage.values() if buffer.place == place]
    if len(names) == 1:
        yield "_pm_intermediates", f"the intermediate array {names[0]}"
    elif names:
        told, others = names[:_MOST_NAMED], len(names) - _MOST_NAMED
        last = f"{others} more" if others > 0 else told.pop()
        yield "_pm_intermediates", f"the intermediate arrays {', '.join(told)} and {last}"


def _tables(pipeline: Pipeline) -> tuple[Constants, ...]:
    """The numbers that the stages look up, in order of first use."""
    expressions = (expr for stage in pipeline.stages for _, expr in stage.expressions())
    nodes = (node for expr in expressions for node in walk(expr))
    tables = dict.fromkeys(node.table for node in nodes if isinstance(node, Lookup))
    return tuple(map(_constants, tables))


def _constants(table: Table) -> Constants:
    values = tuple(literal(value, table.dtype) for value in table.array.tolist())
    return Constants(table.dtype.c, table_name(table), values)


def _flags(schedule: Schedule) -> tuple[str, ...]:
    """Flags for what gcc would compute differently from NumPy, or needlessly long.

    Signed integers wrap around.  Without traps gcc 12 makes trunc(x) of (double)(int)x: -0.0 where x is -0.3.
    Loops of register blocks are unrolled as they are written.  Of thousands of numbers in one loop gcc 12
    keeps each in a register of its own, which it does not have: 10 000 products were compiled in more than
    60 s, without that in 4.5.
    """
    pipeline = schedule.grouping.pipeline
    unrolled = all(plan.is_unrolled for plan in schedule.plans)
    wraps = any(_computes_integers(stage) for stage in pipeline.stages)
    read = {load.source.name for stage in pipeline.stages for load in stage.loads()}
    truncates = any(_truncates(stage, read) for stage in pipeline.stages)
    large = any(written_size(e) > _LARGE for stage in pipeline.stages for _, e in stage.expressions())
    flags = {
        "-fwrapv": wraps,
        "-ftrapping-math": truncates,
        "-fno-unroll-loops": unrolled or large,
        **dict.fromkeys(_FOR_LARGE, large),
    }
    return tuple(flag for flag, needed in flags.items() if needed)


def _truncates(stage: Stage, read: Set[str]) -> bool:
    """Whether a floating-point value becomes an integer that may be converted back as it is.

    One that is at least 0 afterwards is the same by way of trunc(x).  Integers that stay such, as results or
    as places in an array, are not converted back.  read: the stages that others read, in one loop perhaps.
    """
    return any(is_converted_back(expr, is_read=stage.name in read) for _, expr in stage.expressions())


def _computes_integers(stage: Stage) -> bool:
    if stage.is_reduction and stage.dtype.kind == "i":
        return True
    operations = (node for _, expr in stage.expressions() for node in walk(expr) if children(node))
    return any(node.dtype.kind == "i" for node in operations)
