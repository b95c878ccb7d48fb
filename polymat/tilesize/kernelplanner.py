"""The plan of a contraction around register blocks: shape of the blocks, blocks for the caches, time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, prod
from typing import Literal

from polymat.graph.group import Group
from polymat.graph.stage import Stage
from polymat.lang.types import real_part
from polymat.machine.model import Machine
from polymat.plan.kernel import KernelPlan
from polymat.poly.domain import Domain
from polymat.product.blocking import Blocking, blocking
from polymat.product.blocks import Blocks, blocks_of
from polymat.product.contraction import Contraction
from polymat.product.matching import contraction_of
from polymat.product.pairs import Pairs, as_reals
from polymat.product.prices import BY_PANELS, COMPUTING, LOADED, PACKED_BEFORE, pairing_operations
from polymat.product.question import is_unrolled, question
from polymat.product.ranking import ranked
from polymat.product.shares import Share, Shared, beside_of
from polymat.product.ways import Way, way_of
from polymat.product.wholeproducts import measured_ratios
from polymat.tilesize.sharedproducts import shared_dims

LEAST_POINTS = 64  # multiplications below which the loops around a register block cost more than it saves
LEAST_UNROLLED = 16  # the same for straight code, which has none
CLEARLY = 0.97  # of the time of threads that share rows: others have to take so much less, by prediction


def plan_kernel(
    group: Group,
    stage: Stage,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    *,
    policy: Literal["shares", "working-sets", "model", "learned"] = "shares",
    threads: int = 0,
) -> KernelPlan | None:
    """The plan of a stage that is a contraction; None of any other.

    policy: `Options.blocks`, how those for the caches are chosen; "model", "learned": as with "shares".
    threads: that compute it, 0 for one a core.
    """
    product = contraction_of(stage, context, estimates)
    reals = None if product is None else _in_reals(product, stage)
    if product is None or reals is None:
        return None
    found, pairs = reals
    size = real_part(stage.dtype).size
    team = machine.team(threads)
    blocks = blocks_of(machine.of_a_thread(team), size)
    measured = measured_ratios(machine, blocks, size)
    if pairs or policy == "working-sets":  # copies may be smaller than turned blocks need
        blocks = replace(blocks, turned_depth=0)
    shared, by_policy = shared_dims(found, estimates, team), ""
    if policy == "working-sets":
        blocks, by_policy = _by_working_sets(found, blocks, shared[0], machine, estimates, team)
    made = blocking(found, blocks, estimates)
    further = f"{_triangle(product)}{_further(product)}{by_policy}; as {made.way.value}"
    order = (*product.right_dims, *product.all_rows)

    def sharing(parallel: str) -> KernelPlan:
        scheme = made.scheme(parallel, estimates)
        reason = f"{_multiplied(product, pairs, made.blocks)}, {scheme}{further}"
        where = (group, "kernel", order, parallel, found.columns, reason)
        return KernelPlan(*where, found, blocks, scheme, made.way, pairs=pairs, measured=measured)

    return _quickest([_with_across(sharing(dim), team) for dim in shared], estimates, team)


def _with_across(plan: KernelPlan, threads: int) -> KernelPlan:
    """The plan whose threads share rows and columns, where that may be."""
    return replace(plan, across=beside_of(plan.contraction, plan.parallel, threads))


def _quickest(plans: Sequence[KernelPlan], estimates: Mapping[str, int], threads: int) -> KernelPlan:
    """The plan whose threads are done first, by prediction; the first of those that are done as soon."""
    if len(plans) == 1:
        return plans[0]
    costs = [computing_operations(plan, estimates, threads) for plan in plans]
    best = min(range(len(plans)), key=lambda number: costs[number])
    return plans[best if costs[best] < CLEARLY * costs[0] else 0]


def _in_reals(product: Contraction, stage: Stage) -> tuple[Contraction, tuple[Pairs, ...]] | None:
    """What register blocks compute of a product, and the complex ones that are pairs there."""
    return as_reals(product, stage.name) if stage.dtype.kind == "c" else (product, ())


def blocking_of(plan: KernelPlan, estimates: Mapping[str, int], *, share: Share | None = None) -> Blocking:
    """How a plan's product is carried out, also where its result is so large that it goes past the caches.

    share: lengths of dimensions of which a thread has a part.
    """
    found, blocks = plan.contraction, plan.blocks
    elements = prod(found.length(dim, estimates) for dim in found.result)
    past = 0 < plan.streamed < elements * blocks.vector_bytes // blocks.lanes
    handed, ended = plan.handed, plan.ended
    return blocking(found, blocks, estimates, share=share, past=past, handed=handed, ended=ended)


def described(plan: KernelPlan, estimates: Mapping[str, int]) -> KernelPlan:
    """A plan of which it was changed where its result goes, with the scheme that it has now."""
    if plan.parallel is None:
        return plan
    made = blocking_of(plan, estimates)
    scheme = made.scheme(plan.parallel, estimates)
    reason = plan.reason.replace(str(plan.scheme), str(scheme)).replace(plan.way.value, made.way.value)
    return replace(plan, scheme=scheme, way=made.way, reason=reason)


def upright(plan: KernelPlan, estimates: Mapping[str, int]) -> KernelPlan:
    """The plan of a product that has readers, for which there are no turned blocks."""
    if plan.blocks.turned_depth == 0:
        return plan
    blocks, before = replace(plan.blocks, turned_depth=0), blocking_of(plan, estimates).blocks
    was, now = (f"register blocks of {each.rows} x {each.columns}" for each in (before, blocks))
    return described(replace(plan, blocks=blocks, reason=plan.reason.replace(was, now)), estimates)


def _by_working_sets(
    found: Contraction,
    blocks: Blocks,
    parallel: str,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
) -> tuple[Blocks, str]:
    """The blocks that PolyDL's ranking has first, and what it says of them, in words."""
    m, n, k = (
        prod(found.length(dim, estimates) for dim in dims)
        for dims in (found.all_rows, found.all_columns, found.summed)
    )
    m, n = (
        ceil(length / threads) if parallel in dims else length
        for length, dims in ((m, found.all_rows), (n, found.all_columns))
    )
    size = blocks.vector_bytes // blocks.lanes
    order = ranked(blocks, int(m), int(n), int(k), size, machine, threads)
    first, cost = order[0]
    usual = next(each for variant, each in order if variant == blocks)
    words = f"the first of {len(order)} by working sets, {cost:.3g} (by shares of the caches {usual:.3g})"
    return first, f"; blocks of {first.kc} deep, {first.mc} rows and {first.nc} columns are {words}"


def _multiplied(product: Contraction, pairs: Sequence[Pairs], blocks: Blocks) -> str:
    """What is multiplied and in which blocks, in words."""
    size = f"{blocks.rows} x {blocks.columns}"
    return f"a product of {_operands(product, pairs)}, register blocks of {size}"


def _operands(product: Contraction, pairs: Sequence[Pairs]) -> str:
    """What is multiplied, and how where it is complex, in words."""
    names = f"{product.left.source} and {product.right.source}"
    if not pairs:
        return f"matrices {names}"
    first = pairs[0]
    kinds = "real and complex" if first.is_beside_reals else "complex"
    if not first.written:
        return f"{kinds} matrices {names}, of the second one twice as many real columns"
    return f"{kinds} matrices {names}, of the second one pairs of real and imaginary parts"


def _triangle(found: Contraction) -> str:
    """What of the product a triangle is, in words."""
    if found.triangle is None:
        return ""
    matrix = {"left": found.left.source, "right": found.right.source, "result": "the result"}
    text = f", of {matrix[found.triangle.place]} where {found.triangle}"
    return text if found.mirror is None else f"{text} and {found.mirror} elsewhere"


def _further(found: Contraction) -> str:
    """What else is added up, in words."""
    return "".join(f", and of {each.left.source} and {each.right.source}" for each in found.more)


def kernel_operations(plan: KernelPlan, estimates: Mapping[str, int], threads: int = 1) -> float:
    """Multiplications and additions, counted higher where register blocks are not full.

    Divided by the peak of the threads they give seconds: what they are counted higher by is the share of the
    peak not used.  Each thread chooses a way and copies for its share, and all wait for the slowest.
    """
    return sum(_shared_operations(each, estimates, threads, loading=True) for each in _products(plan))


def computing_operations(plan: KernelPlan, estimates: Mapping[str, int], threads: int = 1) -> float:
    """The operations of a kernel plan without loading what a few columns read, for who counts its bytes."""
    return sum(_shared_operations(each, estimates, threads, loading=False) for each in _products(plan))


def tiled_operations(plan: KernelPlan, estimates: Mapping[str, int], share: Share, threads: int = 1) -> float:
    """Multiplications and additions of a product of which each tile computes a share, and of packing.

    What is packed before the tiles counts once, what each of them packs as often as there are tiles.
    """
    found = plan.contraction
    tiles = prod(max(1.0, found.length(dim, estimates) / max(1.0, part)) for dim, part in share.items())
    longer = _as_measured(plan, estimates, threads)
    if plan.packed_depth == 0:
        each = sum(_operations(each, estimates, share, loading=False) for each in _products(plan))
        return longer * tiles * each
    values = question(found, plan.blocks, estimates, share=share) | {"kc": plan.packed_depth}
    return longer * (tiles * BY_PANELS.at(values) + PACKED_BEFORE.at(values))


def shares_of(plan: KernelPlan, estimates: Mapping[str, int], threads: int) -> tuple[Share, ...]:
    """The lengths of what each of some threads has of the dimensions that they share."""
    return _shared(plan).shares(estimates, threads)


def _shared(plan: KernelPlan) -> Shared:
    blocks = plan.blocks
    return Shared(plan.contraction, plan.parallel, plan.across, blocks.rows, blocks.lanes)


def _products(plan: KernelPlan) -> list[KernelPlan]:
    """A plan for each of the products that are added up."""
    return [
        replace(plan, contraction=each, pairs=plan.pairs[number : number + 1])
        for number, each in enumerate(plan.contraction.apart)
    ]


def _shared_operations(
    plan: KernelPlan, estimates: Mapping[str, int], threads: int, *, loading: bool
) -> float:
    """What the products of all threads cost where each has as much to do as the slowest."""
    parts = _shared(plan).priced(estimates, threads)
    most = max(_operations(plan, estimates, share, loading=loading) for share in _different(parts))
    return most * (threads if parts[0] else 1) * _as_measured(plan, estimates, threads)


def _as_measured(plan: KernelPlan, estimates: Mapping[str, int], threads: int) -> float:
    """By what a product takes longer than its price says, as whole products did that were timed."""
    if plan.measured is None:
        return 1.0
    found = plan.contraction
    m, n, k = (
        prod(max(1.0, found.length(dim, estimates)) for dim in dims)
        for dims in (found.all_rows, found.all_columns, found.summed)
    )
    outer = prod(max(1.0, found.length(dim, estimates)) for dim in found.outer)
    return plan.measured.at((m, n, k), threads if outer < threads else 1)


def share_operations(plan: KernelPlan, estimates: Mapping[str, int], share: Share, threads: int) -> float:
    """The price of a share of one product, for the thread of so many that has it."""
    return _operations(plan, estimates, share, loading=True) * _as_measured(plan, estimates, threads)


def _different(parts: Sequence[Share]) -> list[Share]:
    """Those that are not the same as another one."""
    return [share for at, share in enumerate(parts) if share not in parts[:at]]


def _operations(plan: KernelPlan, estimates: Mapping[str, int], share: Share, *, loading: bool) -> float:
    """What a plan's products cost in the way that they take for a share of them."""
    found, blocks = plan.contraction, plan.blocks
    values = question(found, blocks, estimates, share=share, handed=plan.handed, ended=plan.ended)
    way = Way.UNROLLED if is_unrolled(found, blocks, estimates) else way_of(values)
    each = COMPUTING[way].at(values)
    each += LOADED[way].at(values) if loading and way in LOADED else 0.0
    return _points(found, found.outer, estimates, share) * each + _pairing(plan, estimates, share)


def _pairing(plan: KernelPlan, estimates: Mapping[str, int], share: Share) -> float:
    """What writing the pairs of complex right operands costs, where they are written."""
    if not any(pairs.written for pairs in plan.pairs):
        return 0.0
    found = plan.contraction
    return pairing_operations(_points(found, found.right_dims, estimates, share), 1.0)


def _points(found: Contraction, dims: Sequence[str], estimates: Mapping[str, int], share: Share) -> float:
    """The points of some dimensions, one at least along each."""
    return prod(max(1.0, share.get(dim, found.length(dim, estimates))) for dim in dims)


def is_worth(plan: KernelPlan, estimates: Mapping[str, int]) -> bool:
    """Whether there is enough to do for a register block to pay."""
    found = plan.contraction
    m, n, k = (found.length(dim, estimates) for dim in (found.rows, found.columns, found.depth))
    points, unrolled = m * n * k, is_unrolled(found, plan.blocks, estimates)
    if m <= 1 < n and not found.more_rows and not unrolled:
        return False  # nothing is used twice, and loops walk the right operand along its rows
    return points >= (LEAST_UNROLLED if unrolled else LEAST_POINTS)
