"""`python -m polymat cache`: its arguments, and what it says of the store and does to it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from polymat.errors import counted
from polymat.runtime.cache import cache_directory
from polymat.runtime.cacheroom import clear, entries
from polymat.runtime.doctor import bytes_text
from polymat.runtime.settings import settings
from polymat.tunecommand import forget_line, store_line


def add_cache_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--clear", action="store_true", help="remove every entry")
    command.add_argument("--forget-tuned", action="store_true", help="forget what `tune` found instead")


def cache_lines(asked: argparse.Namespace) -> Iterator[str]:
    """Empty the store where that is asked for, and say what was removed, or else what there is."""
    if asked.forget_tuned:
        yield forget_line()
        return
    if asked.clear:
        yield f"removed {counted(clear(), 'file')} from {cache_directory()}"
        return
    found = entries()
    yield f"directory  {cache_directory()}"
    yield f"mode       {settings().cache_mode}"
    yield f"entries    {len(found)}"
    limit = bytes_text(settings().cache_limit_bytes)
    yield f"size       {bytes_text(sum(entry.bytes for entry in found))} of at most {limit}"
    yield store_line()
