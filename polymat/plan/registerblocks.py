"""The register blocks, or the loops of a scheme, that a plan computes its sums with."""

from __future__ import annotations

from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan
from polymat.plan.nest import MergedPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan


def kernel_of(plan: Plan) -> KernelPlan | None:
    """The contraction around register blocks that a plan is, or is made around; None of other plans."""
    match plan:
        case KernelPlan():
            return plan
        case EpiloguePlan(kernel=inner) | MergedPlan(inner=KernelPlan() as inner):
            return inner
        case _:
            return None


def own_kernel(plan: Plan) -> KernelPlan | None:
    """Those that a plan computes products with, or would if it called no BLAS."""
    return kernel_of(plan.loops if isinstance(plan, CallPlan) else plan)


def scheme_of(plan: Plan) -> SchemePlan | None:
    """The contraction in the loops of a scheme that a plan is, or is made around; None of other plans."""
    match plan:
        case SchemePlan():
            return plan
        case MergedPlan(inner=SchemePlan() as inner):
            return inner
        case _:
            return None
