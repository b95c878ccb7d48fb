"""What the measuring programs have in common: the clock, rounds of calls, and how they are loaded."""

from __future__ import annotations

import ctypes
import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace

from polymat.codegen.c.apart import Files
from polymat.errors import ToolchainError
from polymat.idiom.librarymodel import LibraryModel
from polymat.runtime.bind import bind_addresses
from polymat.runtime.libraryfile import build
from polymat.runtime.librarystore import store_model, stored_model
from polymat.runtime.openmp import quiet_openmp
from polymat.runtime.providers import Provider

# Seconds of a round of calls, and of all rounds of one measurement.  Several passes go through everything:
# who disturbs one of them is gone in another.
SAMPLE_SECONDS, PATIENCE_SECONDS, PASSES = 1e-5, 3e-5, 3
# Of a call that is made at least twice: the first one finds its operands where others left them, in memory.
WARM_SECONDS = 1e-3


def load_timers(
    source: str,
    routines: Sequence[str],
    found: Provider | None,
    files: Callable[[], Files] | None = None,
) -> ctypes.CDLL:
    """The measuring program, compiled and bound to the routines of a library, if it calls one.

    files: gives the same as several files.
    """
    built = build(source, files=files)
    try:
        quiet_openmp(built.image)
        program = ctypes.CDLL(str(built.path))
        if found is not None:
            bind_addresses(str(built.path), [found.address(routine) or 0 for routine in routines])
    except OSError as error:
        raise ToolchainError(f"cannot load the measuring program: {error}") from error
    finally:
        built.release()
    return program


def kept_or_measured(
    found: Provider | None, measure: Callable[[Provider], LibraryModel], *, force: bool
) -> LibraryModel | None:
    """The stored speeds of a library, or new ones, which are then stored; None without a library."""
    if found is None:
        return None
    stored = stored_model(found)
    if stored is not None and not force:
        return stored
    measured = measure(found)
    if stored is not None:
        measured = replace(measured, products=stored.products)  # which others measure
    store_model(found, measured)
    return measured


def date_text() -> str:
    """The time of a measurement, for people."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
