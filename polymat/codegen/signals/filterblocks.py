"""Register blocks of filters: the C function that filters a row of samples tap by tap.

`filter_text` gives the C function `_pm_filter_f64` or `_pm_filter_f32`:

    y[i] = from[i] + scale * sum over k of h[k * h_step] * x[down * i + k]

Neighbouring results need the same samples shifted by one, and loads that are not aligned cross cache lines.
So the lanes of a vector are results far apart: each lane has a run of results of its own, whose samples are
transposed into a table in the first-level cache, one vector for every position in the runs.  Then all loads
are aligned, and a vector of samples that is loaded once serves as many results of a register block as there
are taps in a step.  Of a signal of which every d-th result is kept, the samples d apart lie together in the
table (its phases), so that neighbouring results share their samples there as well.

With zeros between the samples (an interpolation by u), which are left out, every u-th result has the same
taps: the results of one position in a run are u vectors, computed from the same table.

The last run of a row begins where all of it is inside the row; what it has in common with the run before is
computed twice, to the same values.
"""

from __future__ import annotations

from dataclasses import dataclass

from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.kernels import kernel_text, statements
from polymat.codegen.c.needs import Need
from polymat.tilesize.filterblock import MOST_KINDS, square_side

LEAST = 8  # results of a row: a register block and its transposition need as many


@dataclass(frozen=True, slots=True)
class FilterShape(Need):
    """A register block of `rows` times `lanes` results, `taps` taps a step; a register holds `width` of them.

    suffix: "f32" or "f64".
    """

    suffix: str
    lanes: int
    rows: int
    taps: int
    width: int

    @property
    def parts(self) -> int:
        """Vectors that hold the results at one position of all runs."""
        return self.lanes // self.width

    def __str__(self) -> str:
        return f"filter_{self.suffix}_{self.lanes}x{self.rows}x{self.taps}"


def filter_text(shape: FilterShape) -> str:
    """The C text behind a need of the prelude."""
    s, lanes = shape.suffix, shape.lanes
    rows = [shape.rows] if shape.rows <= LEAST else [shape.rows, LEAST]
    names = {"BLOCK": _block_name(shape, rows[0]), "SHORT_BLOCK": _block_name(shape, rows[-1])}
    side = square_side(shape.width)
    sizes = {"LANES": lanes, "SIDE": side, "ROWS": shape.rows, "LEAST": LEAST, "MOST_KINDS": MOST_KINDS}
    return "\n".join(
        [
            kernel_text("shuffles"),
            kernel_text("squares", s, SIDE=side),
            kernel_text("filterlanes", s, WIDTH=shape.width),
            *(_block(shape, count) for count in rows),
            kernel_text("filter", s, {**sizes, **names}),
            kernel_text("complexfilter", s),
        ]
    )


def _block_name(shape: FilterShape, rows: int) -> str:
    return f"_pm_filter_block_{shape.suffix}_{rows}"


def _block(shape: FilterShape, rows: int) -> str:
    """One block: its results at consecutive positions of all runs."""
    parts = shape.parts
    each = [(row, part) for row in range(rows) for part in range(parts)]
    return kernel_text(
        "filterblock",
        shape.suffix,
        PARTS=parts,
        BLOCK=_block_name(shape, rows),
        TAPS=shape.taps,
        SUMS=", ".join(f"c{row}_{part} = {{0}}" for row, part in each),
        STEP=_step(shape, rows),
        ONE=statements(f"c{row}_{part} += h[0] * x[{row * parts + part}]" for row, part in each),
        STORE=statements(f"y[{row * parts} * across + {part}] = c{row}_{part}" for row, part in each),
    )


def _step(shape: FilterShape, rows: int) -> str:
    """Add a step of taps to all results of a block; each vector of samples is loaded once."""
    taps = range(shape.taps)
    lines = [f"const {C_TYPES[shape.suffix]} {', '.join(f't{k} = h[{k}]' for k in taps)}"]
    for place in range(rows + shape.taps - 1):
        for part in range(shape.parts):
            vector = f"v{place}_{part}"
            lines.append(f"const _pm_lanes_{shape.suffix} {vector} = x[{place * shape.parts + part}]")
            lines += [f"c{place - k}_{part} += t{k} * {vector}" for k in taps if 0 <= place - k < rows]
    return statements(lines)
