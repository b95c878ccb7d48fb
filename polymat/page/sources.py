"""The lines that a user wrote for the stages of a group, and the C that was made of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from polymat.codegen.c.render import function_text
from polymat.codegen.program import Program
from polymat.errors import Location
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage

MOST_LETTERS, ALL_LETTERS = 12_000, 150_000  # of the C of a group on a page, and of that of all groups
MOST_LINES = 60  # of the user's program for a group


def put_into(built: Pipeline, kept: Collection[str], stages: Sequence[str]) -> tuple[str, ...]:
    """The stages of the definition that have no array: those that these stages compute in their own place.

    kept: the stages that are computed by themselves.
    """
    readers: dict[str, set[str]] = {}
    for stage in reversed(built.stages):
        own = readers.get(stage.name, set())
        reached = {stage.name} if stage.name in kept else own
        for load in stage.loads():
            readers.setdefault(load.source.name, set()).update(reached)
    wanted = {*stages}
    return tuple(
        stage.name
        for stage in built.stages
        if stage.name not in kept and not wanted.isdisjoint(readers.get(stage.name, ()))
    )


def user_lines(pipelines: Sequence[Pipeline], stages: Sequence[str]) -> list[tuple[str, str]]:
    """Places and texts of the lines that define stages, in the order of the files."""
    found: dict[Location, None] = {}
    for name in stages:
        for pipeline in pipelines:
            for stage in (stage for stage in pipeline.stages if stage.name == name):
                found |= dict.fromkeys(_locations(stage))
    ordered = sorted(found, key=lambda at: (at.file, at.line))
    quoted = [(f"{os.path.basename(at.file)}:{at.line}", at.quote()) for at in ordered]
    return [(place, line) for place, line in quoted if line][:MOST_LINES]


def _locations(stage: Stage) -> Iterator[Location]:
    parts = [stage.at, *(part.at for part in stage.parts), *(added.at for added in stage.accumulations)]
    yield from (at for at in parts if at is not None)


def group_c(program: Program, number: int) -> str:
    """The C functions of one group, as far as a page has room for them."""
    names = program.groups[number] if number < len(program.groups) else ()
    functions = (function for function in program.file.functions if function.name in names)
    text = "\n".join(function_text(function) for function in functions)
    most = min(MOST_LETTERS, ALL_LETTERS // max(len(program.groups), 1))
    if len(text) <= most:
        return text
    shown = text[:most].rpartition("\n")[0]
    return f"{shown}\n/* and {len(text) - len(shown)} letters more: see .source */\n"
