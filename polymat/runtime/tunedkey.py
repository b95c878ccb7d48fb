"""Which program, machine and compiler a search holds for, and which sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from math import log2
from typing import TYPE_CHECKING

from polymat.graph.selection import TunedChoice
from polymat.namedfields import whole_text
from polymat.request import Request
from polymat.runtime.calibration import fingerprint
from polymat.runtime.release import release
from polymat.runtime.toolchain import find_compiler
from polymat.runtime.tunedstore import SearchEnd, TunedFile, read_tuned

if TYPE_CHECKING:
    from polymat.graph.pipeline import Pipeline

EXACT = 16  # sizes up to which each is a class of its own
STEPS = 3  # classes of sizes between one and its double


def definitions_of(built: Pipeline) -> str:
    """A digest of what a program computes; built: the outputs as stages, before anything is rewritten."""
    return hashlib.sha256(str(built).encode("utf-8", errors="surrogateescape")).hexdigest()


def tuned_key(definitions: str, request: Request) -> str:
    """The key of a program: its definitions, its options, the machine, the compiler, and polymat.

    definitions: as `definitions_of` gives them.
    """
    machine = request.machine
    team = machine.team(request.options.threads)
    turned = ", ".join(str(array.name) for array in request.fortran)
    parts = (
        definitions,
        f"by columns: {turned}",
        whole_text(request.options),
        f"{fingerprint()}|{machine.name}|{machine.cores}|{team}",
        find_compiler().identity,
        release(),
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", errors="surrogateescape")).hexdigest()[:32]


def size_class(sizes: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Sizes that are not far from each other are of one class: within a third of a power of two."""
    return tuple(sorted((name, _rounded(size)) for name, size in sizes.items()))


def _rounded(size: int) -> int:
    return size if size <= EXACT else EXACT + round(STEPS * log2(size / EXACT))


def found_for(built: Pipeline, request: Request) -> TunedChoice | None:
    """The choice that a search found for a program at its sizes, if one ended and something was better.

    Where the request names no sizes, it is what was found at those of the one class that was searched.
    """
    file = read_tuned(tuned_key(definitions_of(built), request))
    ending = last_ending(file, built, request)
    return None if ending is None or ending.choice is None else as_found(ending, file)


def last_ending(file: TunedFile, built: Pipeline, request: Request) -> SearchEnd | None:
    """The last ending at the sizes of a request, or, where it names none, of the one class that there is."""
    endings = {size_class(record.sizes): record for record in file.records if isinstance(record, SearchEnd)}
    open_sizes = [size.name for size in built.sizes]
    named = {name: request.estimates[name] for name in open_sizes if name in request.estimates}
    if len(named) == len(open_sizes):
        return endings.get(size_class(named))
    return next(iter(endings.values())) if len(endings) == 1 and not named else None


def as_found(ending: SearchEnd, file: TunedFile) -> TunedChoice:
    """The choice of a search, with both figures in words."""
    assert ending.choice is not None
    sizes = ", ".join(f"{name} {size}" for name, size in ending.sizes.items())
    told = (
        f"tuned{f' at {sizes}' if sizes else ''}: {_milliseconds(ending.seconds)} measured, "
        f"{_milliseconds(ending.default)} as the compiler chooses by itself "
        f"(trial {ending.number} of {ending.trials}, {ending.date}"
        f"{f', kept in {file.path}' if file.path else ''}): {ending.choice}"
    )
    return TunedChoice(ending.choice, ending.sizes, told)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"
