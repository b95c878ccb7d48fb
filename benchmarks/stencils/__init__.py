"""Chains of stencils over images: what overlapped tiles are for.

Each module has NAME, SIZES, `build()`, `inputs(sizes, rng)`, `reference(arrays)`, `flops(sizes)` and
`traffic(sizes)`; the results are defined in the interior, and their border is not computed.
"""

from __future__ import annotations

from types import ModuleType

from benchmarks.stencils import chain, harris

PROGRAMS: tuple[ModuleType, ...] = (chain, harris)
