"""Words for what a group is and what limits it, for who does not know the compiler."""

from __future__ import annotations

from polymat.errors import unreachable
from polymat.machine.model import MEMORY
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan, FilterPlan, RecursivePlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan, NestPlan
from polymat.plan.position import PositionPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.cost import PlanCost

PLACES = {1: "the L1 cache", 2: "the L2 cache", 3: "the L3 cache", MEMORY: "main memory"}

GLOSSARY = (
    ("stage", "One definition: a function of indices, a sum, a matrix product, a filter."),
    ("group", "Stages that are computed together: in the same loops, or by one call of a library."),
    ("fused", "Computed in one loop, so that what one stage writes is still in the cache for the next."),
    ("tile", "The part of the arrays that a loop computes at a time, made to fit into a cache."),
    (
        "equation of tile sizes (τ)",
        "What tile sizes solve, each τ times the reuse along its dimension; 5120τ - 32768 = 0 for L2, say: "
        "a tile touches 5120τ elements, and its share of L2 holds 32768.",
    ),
    ("scratchpad", "A small array of each thread in place of a whole intermediate array."),
    ("register block", "A few rows and columns of a product whose sums stay in registers."),
    ("footprint", "The bytes that a piece of work touches; beyond a cache, data are fetched again."),
    (
        "roofline",
        "Operations a second over operations a byte. A group under the slope waits for memory, "
        "one under the flat part for arithmetic; the distance to the line is what is left to gain.",
    ),
    ("predicted", "By a model of this machine, before anything ran; it is what choices are made by."),
    ("measured", "By a clock between groups, in a second build that profile() calls."),
)


def label(plan: Plan) -> str:
    """The way of a group in a few words."""
    match plan:
        case CallPlan():
            return f"library call: BLAS {', '.join(plan.routines)}"
        case PositionPlan():
            return "an extreme and where it is, in one pass"
        case TransformPlan():
            return "library call: FFTW"
        case TilePlan():
            return f"fused: {len(plan.group.stages)} stages in one loop over tiles"
        case NestPlan():
            fused = len(plan.group.stages) > 1
            return f"{'fused into ' if fused else ''}{_own(plan)}"
        case _:
            unreachable(plan)


def short(plan: Plan) -> str:
    """The way of a group in a word or two."""
    match plan:
        case CallPlan():
            return f"BLAS {', '.join(plan.routines)}"
        case TransformPlan():
            return "FFTW"
        case TilePlan():
            return "fused tiles"
        case NestPlan():
            return _own(plan).removeprefix("a ").split(" around ")[0].split(",")[0]
        case _:
            unreachable(plan)


def instead(plan: Plan) -> str:
    """A way that was not taken: its tiles or calls, else as `label` has it."""
    if isinstance(plan, NestPlan) and not isinstance(plan, PositionPlan) and not plan.routines:
        return _own(plan)
    return plan.summary


def _own(plan: NestPlan) -> str:
    match plan:
        case PositionPlan():
            return "extreme and place"
        case FilterPlan():
            return "a filter around register blocks"
        case RecursivePlan():
            return "a recursive filter, block by block"
        case SchemePlan() | MergedPlan(inner=SchemePlan()):
            return "loops of a scheme"
        case KernelPlan() | MergedPlan() | EpiloguePlan():
            return "a product around register blocks"
        case EliminationPlan():
            return "blocks of elimination steps"
        case LoopPlan():
            return {"reduce": "loops that sum", "row": "loops that sum along rows"}.get(plan.kind, "loops")
        case _:
            return f"{plan.kind} loops"


def limit(cost: PlanCost) -> str:
    """The part that takes most of the predicted time."""
    parts = {
        "arithmetic": cost.computing,
        f"moving data from and to {PLACES[cost.level]}": cost.moving,
        "starting threads": cost.entering,
    }
    most = max(parts, key=lambda name: parts[name])
    return most if parts[most] > 0.0 else "nothing: it is empty"


def advice(cost: PlanCost) -> str:
    """Say what would help a group that is limited so."""
    if cost.entering > max(cost.computing, cost.moving):
        return "There is too little work for threads: larger arrays or one thread would use the cores better."
    if cost.computing >= cost.moving:
        return "The cores are busy: only fewer operations, or narrower numbers, would make it quicker."
    place = PLACES[cost.level]
    return f"The cores wait for {place}: only fewer bytes would make it quicker: fusion, or narrower numbers."
