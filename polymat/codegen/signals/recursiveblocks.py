"""Blocks of recursive filters: the C functions that run sections in a row over the samples of channels.

`recursive_text` gives the C function `_pm_recursive_NAME`: every section computes, of the signal before it,

    y[n] = sum over j of f_j x[n - j] - sum over k of g_k y[n - k]  (+ start[n] for the first few n)

One after the other, a sample of a section waits for the one before.  So the lanes of vectors are samples that
do not wait for each other: those of other channels, or of one channel those of runs that follow each other.
A block of samples is transposed into the first-level cache, a vector for each position in the runs, and all
sections pass it there, one after the other: each pass keeps its few samples of the past in registers.

Runs of one channel begin as if nothing had been before them.  What was before a run adds to its results: with
h_k the results that y[-k] = 1 alone would have, the sum over k of h_k[n] y[-k].  The last results of each run
follow so from those of the run before, in the order of the runs, and the rest is added by whoever reads the
results next.  That is no less exact than sample by sample: y[-k] was rounded there as well, and the h_k carry
the error on in the same way.  Results that are alike, of filters with low frequencies, are added with their
differences, which are exact: products of both with large h_k of opposite sign would cancel.

Only what fits in floating-point numbers by a wide margin is computed so (`most`).  Where the results of a
block are not finite, the filter goes on sample by sample from where the block began, so nothing spreads that
would not otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.kernels import kernel_text, statements
from polymat.codegen.c.needs import Need
from polymat.dataclass import dataclass
from polymat.tilesize.filterblock import RUN, square_side

LEAST_RUN = 16  # positions of a run for which runs side by side are worth it
WIDER = {"f32": "double", "f64": "long double"}  # where there is such a type
LIMITS = {"f32": "0x1p126f", "f64": "0x1p1022"}


@dataclass(frozen=True, slots=True)
class RecursiveShape(Need):
    """Sections of one form, in vectors of `lanes` samples, of which a register holds `width`.

    suffix: "f32" or "f64".  forward, back: how far back in time the samples lie that a section reads.
    """

    suffix: str
    lanes: int
    forward: tuple[int, ...]
    back: tuple[int, ...]
    width: int

    @property
    def depth(self) -> int:
        """How many samples of every signal are remembered."""
        return max(*self.forward, *self.back)

    @property
    def past(self) -> int:
        """How many past results make up the state of a section."""
        return max(self.back)

    @property
    def name(self) -> str:
        """The end of the names of the C functions that filter blocks of this shape."""
        offsets = ("x".join(map(str, each)) for each in (self.forward, self.back))
        return f"{self.suffix}_{self.lanes}_{'_'.join(offsets)}"

    def __str__(self) -> str:
        return f"recursive_{self.name}"

    def tables(self, sections: int) -> int:
        """Elements of working memory: the tables of all sections, states and a block."""
        own = RUN * self.past + 2 * (self.depth + self.past) * self.lanes
        return sections * own + (RUN + 4 * self.depth + 4) * self.lanes


def recursive_text(shape: RecursiveShape) -> str:
    """The C text behind a need of the prelude."""
    sizes: dict[str, object] = {"LANES": shape.lanes, "DEPTH": shape.depth, "PAST": shape.past}
    sizes["COEFFICIENT_COUNT"] = len(shape.forward) + len(shape.back)
    of_shape = {"T": C_TYPES[shape.suffix], "NAME(name)": f"_pm_##name##_{shape.name}"}
    runs = {**of_shape, **sizes, "RUN": RUN, "LEAST_RUN": LEAST_RUN}
    carried = _sum("value", (f"h[{i}] * part[{i}]" for i in range(shape.past)))
    return "\n".join(
        [
            kernel_text("shuffles"),
            kernel_text("squares", macros=of_shape, SIDE=square_side(shape.width)),
            _passes_text(shape, {**of_shape, **sizes}),
            kernel_text(
                "recursiveruns",
                macros={**runs, "CARRIED(value)": carried},
                BACK=len(shape.back),
                OFFSETS=", ".join(map(str, shape.back)),
                WIDE=WIDER[shape.suffix],
                LIMIT=LIMITS[shape.suffix],
                PARTS=_parts(shape),
            ),
            kernel_text("recursive", macros=runs),
        ]
    )


def _passes_text(shape: RecursiveShape, macros: Mapping[str, object]) -> str:
    """A section over the samples of a block."""
    restored = _sum("part", (f"t[{i}] * before[{_at(shape, i)}]" for i in range(shape.past)))
    return kernel_text(
        "recursivepasses",
        macros={**macros, "RESTORED(part)": restored},
        WIDTH=shape.width,
        SIDE=square_side(shape.width),
        COEFFICIENTS=_coefficients(shape),
        SERIAL_STATE=_state(shape, C_TYPES[shape.suffix], str),
        STATE=_state(shape, f"_pm_rec_part_{shape.name}", partial(_at, shape)),
        STEP=_step(shape),
        SHIFT=_shift(shape),
    )


def _sum(first: str, terms: Iterable[str]) -> str:
    return " + ".join([first, *terms])


def _parts(shape: RecursiveShape) -> str:
    """The first past result, and the differences of those that follow each other."""
    parts = ["old[0]", *(f"old[{k - 1}] - turn * old[{k}]" for k in range(1, shape.past))]
    return "{" + ", ".join(parts) + "}"


def _coefficients(shape: RecursiveShape) -> str:
    count = len(shape.forward)
    names = [f"f{j} = c[{i}]" for i, j in enumerate(shape.forward)]
    names += [f"g{k} = c[{count + i}]" for i, k in enumerate(shape.back)]
    return f"const {C_TYPES[shape.suffix]} {', '.join(names)}"


def _at(shape: RecursiveShape, vector: int) -> str:
    """Where a part of a vector lies among the parts of all."""
    return f"{vector} * _pm_rec_parts_{shape.name}"


def _state(shape: RecursiveShape, kind: str, at: Callable[[int], str]) -> str:
    """The samples of the past, the newest first, as variables."""
    xs = [f"x{j} = xs[{at(j - 1)}]" for j in range(1, max(shape.forward) + 1)]
    ys = [f"y{k} = ys[{at(k - 1)}]" for k in range(1, max(shape.back) + 1)]
    return f"{kind} {', '.join([*xs, *ys])}"


def _step(shape: RecursiveShape) -> str:
    """The next result; what waits longest for the result before comes last."""
    first, *rest = shape.forward
    lines = [f"y0 = f{first} * x{first}", *(f"y0 += f{j} * x{j}" for j in rest)]
    return statements([*lines, *(f"y0 -= g{k} * y{k}" for k in reversed(shape.back))])


def _shift(shape: RecursiveShape) -> str:
    moves = [f"x{j} = x{j - 1}" for j in range(max(shape.forward), 0, -1)]
    return statements([*moves, *(f"y{k} = y{k - 1}" for k in range(max(shape.back), 0, -1))])
