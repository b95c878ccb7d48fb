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

Of vectors of up to 32 bytes at most every other load that is not aligned crosses a cache line.  There the
lanes of a vector are neighbouring results (`nearfilter.h`), read and written as they lie in memory: taps that
are a vector apart meet vectors of samples that follow each other, so that each of these is loaded once for
several results, and nothing is transposed.  Of every d-th result the phases of the signal are copied first;
results of an interpolation are put together afterwards.
"""

from __future__ import annotations

from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.kernels import kernel_text, statements
from polymat.codegen.c.needs import Need
from polymat.dataclass import dataclass
from polymat.tilesize.filterblock import MANY, MOST_KINDS, NEAR_BYTES, NEAR_CHUNK, square_side

LEAST = 8  # results of a row: a register block and its transposition need as many
NEAR_ROWS, NEAR_TAPS = 8, 4  # vectors of results, and taps a step: with a vector of samples 13 registers


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

    @property
    def is_near(self) -> bool:
        """Whether vectors of neighbouring results are quicker than those of results far apart."""
        return self.width * (4 if self.suffix == "f32" else 8) <= NEAR_BYTES

    def __str__(self) -> str:
        return f"filter_{self.suffix}_{self.lanes}x{self.rows}x{self.taps}"


def filter_text(shape: FilterShape) -> str:
    """The C text behind a need of the prelude."""
    s, lanes = shape.suffix, shape.lanes
    rows = [shape.rows] if shape.rows <= LEAST else [shape.rows, LEAST]
    names = {"BLOCK": _block_name(shape, rows[0]), "SHORT_BLOCK": _block_name(shape, rows[-1])}
    side = square_side(shape.width)
    sizes = {"LANES": lanes, "SIDE": side, "ROWS": shape.rows, "LEAST": LEAST, "MOST_KINDS": MOST_KINDS}
    near = {"NEAR": int(shape.is_near), "WIDTH": shape.width, "MANY": MANY}
    return "\n".join(
        [
            kernel_text("shuffles"),
            kernel_text("squares", s, SIDE=side),
            kernel_text("filterfetch", s),
            kernel_text("filterlanes", s, WIDTH=shape.width),
            *(_block(shape, count) for count in rows),
            *_near_texts(shape),
            kernel_text("filter", s, {**sizes, **names, **near}),
            kernel_text("complexfilter", s),
        ]
    )


def _near_texts(shape: FilterShape) -> list[str]:
    """Blocks of neighbouring results and what is around them, where they are quicker."""
    if not shape.is_near:
        return []
    s, few = shape.suffix, max(1, LEAST // shape.width)
    block, short = f"_pm_near_block_{s}", f"_pm_near_few_{s}"
    sizes = {"WIDTH": shape.width, "NEAR_ROWS": NEAR_ROWS, "LEAST": LEAST, "CHUNK": NEAR_CHUNK}
    return [
        kernel_text("nearvectors", s, WIDTH=shape.width),
        _near_block(shape, block, NEAR_ROWS),
        _near_block(shape, short, few),
        kernel_text("nearfilter", s, {**sizes, "NEAR_BLOCK": block, "NEAR_FEW": short}),
    ]


def _near_block(shape: FilterShape, name: str, rows: int) -> str:
    """One block of so many vectors of neighbouring results."""
    each = range(rows)
    return kernel_text(
        "nearblock",
        shape.suffix,
        WIDTH=shape.width,
        NEAR_BLOCK=name,
        NEAR_TAPS=NEAR_TAPS,
        NEAR_SUMS=", ".join(f"c{row} = {{0}}" for row in each),
        NEAR_STEP=_near_step(shape.suffix, rows, NEAR_TAPS),
        NEAR_THREE=_near_step(shape.suffix, rows, 3),
        NEAR_TWO=_near_step(shape.suffix, rows, 2),
        NEAR_ONE=_near_step(shape.suffix, rows, 1),
        NEAR_STORE=statements(f"y[{row}] = c{row}" for row in each),
    )


def _near_step(suffix: str, rows: int, taps: int) -> str:
    """Add taps that meet vectors of samples which follow each other; each vector is loaded once."""
    lines = [f"const {C_TYPES[suffix]} {', '.join(f't{k} = h[{k}]' for k in range(taps))}"]
    for place in range(rows + taps - 1):
        lines.append(f"const _pm_near_{suffix} v{place} = _pm_near_loaded_{suffix}(x[{place}])")
        lines += [f"c{place - k} += t{k} * v{place}" for k in range(taps) if 0 <= place - k < rows]
    return statements(lines)


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
