"""Compilations for a machine and libraries that are stated: the same texts wherever the tests run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from polymat.codegen.c.render import unit
from polymat.codegen.explain import make_report
from polymat.codegen.explainsteps import make_stepwise_report
from polymat.codegen.program import Program
from polymat.codegen.report import Report
from polymat.driver import levels, request_for
from polymat.graph.arguments import fixed_sizes
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL, ZEN4
from polymat.machine.model import Machine
from polymat.options import DEFAULTS, Options
from polymat.plan.schedule import Schedule
from polymat.reporting import told
from polymat.steps import Level
from tests.hosts import StatedLibraries, as_stated

# Vectors of 256 bits and of 512, two cores each; the figures of the table count as measured.
NARROW = replace(HASWELL, name="narrow", cores=2)
WIDE = replace(ZEN4, name="wide", cores=2)


def compiled_levels(
    outputs: Any,
    *,
    name: str | None = None,
    machine: Machine = NARROW,
    options: Options = DEFAULTS,
    estimates: Any = None,
    **described: Any,
) -> dict[str, Level]:
    """The levels of a compilation up to the program, by their names; nothing is compiled by a C compiler."""
    found: dict[str, Level] = {}
    request = request_for(outputs, name=name, options=options, estimates=estimates, **described)
    for level, result in levels(replace(request, machine=as_stated(machine), libraries=StatedLibraries())):
        found[level] = result
        if level == "codegen":
            return found
    raise AssertionError("there is no level codegen")


def own_c(program: Program) -> str:
    """The C of the program's own functions and tables, without what the library adds."""
    return unit(replace(program.file, texts=(), undefine=(), declared=(), marks=()), "")


def report_of(outputs: Any, **asked: Any) -> Report:
    """What `explain()` gives."""
    found = compiled_levels(outputs, **asked)
    built, schedule, program = found["built"], told(found["tilesize"], found["lanes"]), found["codegen"]
    assert isinstance(built, Pipeline)
    assert isinstance(program, Program)
    guessed = fixed_sizes(asked.get("estimates"), "estimates")
    if isinstance(schedule, Stepwise):
        return make_stepwise_report(built, schedule, program.signature, guessed, {})
    assert isinstance(schedule, Schedule)
    return make_report(built, schedule, program.signature, program.buffers, guessed, {})


def report_text(outputs: Any, **asked: Any) -> str:
    """What `explain()` says, but for how long compiling took and where definitions stand."""
    text = str(report_of(outputs, **asked))
    return re.sub(r"[^\s(]*?(\w+\.py):\d+", r"\1", text.removesuffix("\ncompiled in: "))
