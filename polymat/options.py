"""Everything a user may decide about a compilation, in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, get_args, get_origin, get_type_hints

from polymat.errors import LangError, caller_location


@dataclass(frozen=True, slots=True)
class Options:
    """Knobs of one compilation; the defaults are what is measured to be best.

    threads: threads a call uses; 0 follows `set_num_threads`, `OMP_NUM_THREADS` and the processor count.
    inline: substitute point-wise stages that are read once into their reader.
    fuse: run stages that share data in one loop over tiles.
    tile: unroll outer loops for registers, and share out sums over a single dimension.
    cflags: further compiler flags, after polymat's own (a sanitizer, say).
    parallel_threshold: estimated scalar operations below which a loop nest stays on the calling thread.
    """

    threads: int = 0
    inline: bool = True
    fuse: bool = True
    tile: bool = True
    cflags: tuple[str, ...] = ()
    parallel_threshold: int = 50_000


DEFAULTS = Options()


def check_options(options: Any) -> Options:
    """Return `options` if every field holds what its annotation says."""
    if not isinstance(options, Options):
        raise LangError(
            f"options= is an Options, got {type(options).__name__} {options!r:.60}",
            at=caller_location(),
            hint="options=Options(threads=2)",
        )
    hints = get_type_hints(Options)
    for item in fields(Options):
        value = getattr(options, item.name)
        if not _holds(value, hints[item.name]):
            raise LangError(
                f"Options.{item.name} is {value!r:.60}, not {_WORDS.get(hints[item.name], item.type)}",
                at=caller_location(),
                hint=f"the default is {item.default!r}",
            )
    return options


_WORDS = {int: "an integer in 0 .. 2**31 - 1", bool: "True or False"}


def _holds(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type; integers are counts that C can hold."""
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_holds(item, get_args(hint)[0]) for item in value)
    if get_args(hint):  # a Literal
        return isinstance(value, str) and value in get_args(hint)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return isinstance(value, hint)
