"""Measured times in generated C, for choices that are made at each call: the C twin of `Grid.at`.

`curve_text("_pm_seconds", grid)` defines `static double _pm_seconds(double x0, double x1, double x2)`.
The header `curve` stands once before them.
"""

from __future__ import annotations

import math

from polymat.machine.grid import Grid


def curve_text(name: str, grid: Grid) -> str:
    """The C function `name(extents)`: seconds by the grid, of four axes at most, to a thousandth."""
    axes = range(len(grid.levels))
    further, asked = "", []
    if grid.beyond is not None:
        further = curve_text(f"{name}_beyond", grid.beyond)
        extents = ", ".join(f"x{axis}" for axis in axes)
        more = " * ".join(f"(x{axis} > 1.0 ? x{axis} : 1.0)" for axis in axes)
        asked = [f"    if ({more} > {grid.seam!r})", f"        return {name}_beyond({extents});"]
    counts = ", ".join(str(len(levels)) for levels in grid.levels)
    powers = ", ".join(map(str, grid.growth()))
    logs = [math.log2(level) for levels in grid.levels for level in levels]
    return further + "\n".join(
        [
            f"static double {name}({', '.join(f'double x{axis}' for axis in axes)})",
            "{",
            *asked,
            f"    static const int counts[] = {{{counts}}}, powers[] = {{{powers}}};",
            *_table("levels", logs, 5),
            *_table("seconds", [math.log2(value) for value in grid.seconds], 3),
            f"    const double extents[] = {{{', '.join(f'x{axis}' for axis in axes)}}};",
            f"    return _pm_curve({len(grid.levels)}, counts, powers, levels, seconds, extents);",
            "}",
            "",
        ]
    )


def _table(name: str, values: list[float], digits: int) -> list[str]:
    """Logarithms to the base 2, twelve a line."""
    texts = [f"{value:.{digits}f}f" for value in values]
    rows = ["        " + ", ".join(texts[k : k + 12]) + "," for k in range(0, len(texts), 12)]
    return [f"    static const float {name}[] = {{", *rows, "    };"]
