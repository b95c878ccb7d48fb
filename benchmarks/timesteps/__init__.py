"""Stencils in time, of PolyBench's kernels: fields that a step after the other changes.

Each module has NAME, STEPS, OPERATIONS of a point, SIZES and `build()`, `inputs(sizes, rng)`,
`reference(arrays)`, `points(sizes)`; the number of steps is a part of the program.
"""

from __future__ import annotations

from types import ModuleType

from benchmarks.timesteps import fdtd2d, heat3d, jacobi2d

PROGRAMS: tuple[ModuleType, ...] = (jacobi2d, heat3d, fdtd2d)
