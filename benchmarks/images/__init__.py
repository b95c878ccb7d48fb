"""The six image pipelines that PolyMage was measured with, as a user would write them, each beside NumPy."""

from __future__ import annotations

from benchmarks.images import bilateral_grid, camera, harris, interpolate, pyramid_blend, unsharp
from benchmarks.program import Program

PROGRAMS: tuple[Program, ...] = (
    unsharp.PROGRAM,
    harris.PROGRAM,
    bilateral_grid.PROGRAM,
    bilateral_grid.AS_C,
    interpolate.PROGRAM,
    camera.PROGRAM,
    pyramid_blend.PROGRAM,
)


def find_program(name: str) -> Program:
    """The program of that name."""
    (found,) = (program for program in PROGRAMS if program.name == name)
    return found
