"""Measured times in generated C, for choices that are made at each call: the C twin of `Grid.at`.

`curve_text("_pm_seconds", grid)` defines `static double _pm_seconds(double x0, double x1, double x2)`.
`CURVE_HELPER` stands once before them.
"""

from __future__ import annotations

import math

from polymat.machine.grid import Grid

CURVE_HEADERS = ("math.h",)
CURVE_HELPER = """\
/* Seconds read from a grid of measurements: the logarithm is linear in those of the extents between levels,
   and beyond the last the time grows by a power.  levels: logarithms, of one axis after the other. */
static double _pm_curve(int axes, const int *counts, const int *powers, const float *levels,
    const float *seconds, const double *extents)
{
    int lower[4];
    double share[4], beyond = 0.0, sum = 0.0;
    for (int axis = 0; axis < axes; axis++) {
        const double place = extents[axis] > 1.0 ? log2(extents[axis]) : 0.0;
        const int last = counts[axis] - 1;
        int k = 0;
        while (k < last - 1 && (double)levels[k + 1] <= place)
            k++;
        const double way = (place - (double)levels[k]) / (double)(levels[k + 1] - levels[k]);
        lower[axis] = k;
        share[axis] = way < 1.0 ? way : 1.0;
        beyond += place > (double)levels[last] ? powers[axis] * (place - (double)levels[last]) : 0.0;
        levels += counts[axis];
    }
    for (int corner = 0; corner < 1 << axes; corner++) {
        double weight = 1.0;
        int point = 0;
        for (int axis = 0; axis < axes; axis++) {
            const int upper = corner >> axis & 1;
            weight *= upper ? share[axis] : 1.0 - share[axis];
            point = point * counts[axis] + lower[axis] + upper;
        }
        sum += weight * (double)seconds[point];
    }
    return exp2(sum + beyond);
}
"""


def curve_text(name: str, grid: Grid) -> str:
    """The C function `name(extents)`: seconds by the grid, of four axes at most, to a thousandth."""
    axes = range(len(grid.levels))
    counts = ", ".join(str(len(levels)) for levels in grid.levels)
    powers = ", ".join(map(str, grid.growth()))
    logs = [math.log2(level) for levels in grid.levels for level in levels]
    return "\n".join(
        [
            f"static double {name}({', '.join(f'double x{axis}' for axis in axes)})",
            "{",
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
