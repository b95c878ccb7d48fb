"""Planted times for searches."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32


class Planted:
    """A clock by which all but the default are quicker, by their C text; each look at it is a second."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.default = ""

    def now(self) -> float:
        self.seconds += 1.0
        return self.seconds

    def turn(self, run: Callable[[], object], calls: int) -> float:
        run()
        source: str = run.func.source  # type: ignore[attr-defined]
        self.default = self.default or source
        return 1e-3 if source == self.default else 1e-3 * (0.3 + (crc32(source.encode()) % 64) / 100)
