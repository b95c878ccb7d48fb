"""`python -m polymat tune`: its arguments, and what it says."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from polymat.driver import measured
from polymat.errors import ArgumentError, counted
from polymat.request import Request
from polymat.runtime.settings import settings
from polymat.runtime.target import UsageError, load_arguments
from polymat.runtime.tunedstore import forget_tuned, tuned_files


def add_arguments(command: argparse.ArgumentParser, target: str, inputs: str) -> None:
    """Add the arguments of the command; target, inputs: what these are, in words."""
    command.add_argument("target", metavar="FILE.py[:name]", help=target)
    given = command.add_mutually_exclusive_group()
    given.add_argument("--inputs", metavar="FILE.npz", help=inputs)
    given.add_argument("--sizes", metavar="N=500,M=300", help="of a call with random numbers instead")
    command.add_argument("--budget", default="60 s", help='of all trials, "5 min" say (default: 60 s)')
    command.add_argument("--threads", type=int, help="that share the work (default: as in the file)")
    command.add_argument("--seed", type=int, default=0, help="of what is tried (default: 0)")
    command.add_argument("--json", metavar="FILE", help="write all trials there, and how the best was found")


def tune_lines(asked: argparse.Namespace, request: Request | None) -> Iterator[str]:
    """Search, and say what was found; request: of the target, None where that comes from a file."""
    from polymat.search.tuning import seconds_of, tuned  # with the interpreter, which nothing else here needs

    if request is None:
        raise UsageError(f"{asked.target} comes from a file", hint="name what it was made of")
    if asked.threads is not None:
        request = replace(request, options=replace(request.options, threads=asked.threads))
    arrays = None if asked.inputs is None else load_arguments(asked.inputs)
    try:
        found = tuned(
            measured(request),
            arrays=arrays,
            sizes=_sizes(asked.sizes),
            budget=seconds_of(asked.budget),
            seed=asked.seed,
        )
    except ArgumentError as error:
        raise UsageError(error.message, hint=error.hint) from error
    if asked.json is not None:
        Path(asked.json).write_text(json.dumps(found.as_json(), indent=1) + "\n", encoding="utf-8")
    yield str(found)
    if settings().cache_mode != "on":
        yield f"not kept: POLYMAT_CACHE={settings().cache}"
    elif found.ending.choice is not None:
        yield "compile() takes it on this machine for sizes near these; POLYMAT_TUNED=off refuses"


def store_line() -> str:
    """How many programs were tuned, and how much room that takes."""
    files = tuned_files()
    size = sum(path.stat().st_size for path in files)
    return f"tuned      {counted(len(files), 'program')}, {size} bytes"


def forget_line() -> str:
    """Forget all that was tuned, and say how much that was."""
    return f"forgot what was tuned of {counted(forget_tuned(), 'program')}"


def _sizes(text: str | None) -> dict[str, int]:
    """Sizes by name."""
    found = {}
    for part in filter(None, (text or "").split(",")):
        name, equals, value = part.partition("=")
        if not equals or not value.strip().isdecimal():
            raise UsageError(f"--sizes has {part!r}, no size", hint="--sizes N=500,M=300")
        found[name.strip()] = int(value)
    return found
