"""What must hold after a pass: under POLYMAT_VERIFY=1, in tests, and while a mistake is looked for."""

from __future__ import annotations

from polymat.codegen.program import Program
from polymat.codegen.verifyprogram import check_program
from polymat.errors import InternalError, PolymatError
from polymat.graph.group import Grouping
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.graph.verifypipeline import verify
from polymat.graph.wellformed import check_form
from polymat.plan.schedule import Schedule
from polymat.plan.verifyplan import check_grouping, check_schedule
from polymat.steps import Level


def check(name: str, level: Level) -> None:
    """Raise an `InternalError` that names the pass where the level that it gave is not sound."""
    try:
        _check(level)
    except PolymatError as error:
        fault = error.message.removeprefix("bug in polymat: ")
        raise InternalError(f"bug in polymat: after the pass {name}: {fault}", at=error.location) from error


def _check(level: Level) -> None:
    match level:
        case Pipeline():
            check_form(level)
            verify(level)
        case Grouping():
            check_grouping(level)
        case Schedule():
            check_schedule(level)
        case Stepwise():
            for section in level.sections:
                _check(section.level)
        case Program():
            check_program(level)
        case _:  # a text or a library, which the C compiler has looked at
            return
