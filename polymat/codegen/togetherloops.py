"""The loops of steps that run together, for each way in which they may, in front of those one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymat.codegen.c.ctree import CExpr, Stmt
from polymat.codegen.c.needs import Need
from polymat.codegen.lanedwriter import rows_as_lanes
from polymat.codegen.pointloops import PointLoops
from polymat.codegen.sectionloops import SectionLoops
from polymat.codegen.segmentwriter import in_segments
from polymat.codegen.skewedloops import SkewedLoops
from polymat.codegen.waitingloops import WaitingLoops
from polymat.errors import unreachable
from polymat.graph.laned import LanedRows
from polymat.graph.pointsteps import PointSteps
from polymat.graph.segmented import SegmentedSteps
from polymat.graph.skewed import SkewedSteps
from polymat.graph.stepwise import StepSection
from polymat.graph.waited import WaitingSlices
from polymat.lang.affine import Affine

# The fields of `SectionLoops`: number, step, first, last, given, here, size, needs and team.
Parts = tuple[
    int, str, str, str, Stmt, Stmt, Callable[[Affine], CExpr], set[Need], Callable[[CExpr, CExpr], CExpr]
]


def loops_together(section: StepSection[Any], parts: Parts) -> tuple[Stmt, ...]:
    """Take those steps of a section that run together, and say which step is left; nothing if none do."""
    match section.together:
        case None:
            return ()
        case WaitingSlices() as slices:
            return WaitingLoops(*parts, slices).statements()
        case PointSteps() as points:
            return PointLoops(*parts, points, len(section.inputs), len(section.outputs)).statements()
        case SkewedSteps() as skewed:
            return SkewedLoops(*parts, skewed).statements()
        case SegmentedSteps():
            return in_segments(SectionLoops(*parts))
        case LanedRows():
            assert section.steps is not None
            return rows_as_lanes(SectionLoops(*parts), section.steps)
        case unknown:
            unreachable(unknown)
