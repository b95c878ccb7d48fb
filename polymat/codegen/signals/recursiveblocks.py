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

from dataclasses import dataclass
from string import Template

from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.kernels import kernel_text
from polymat.codegen.signals.recursivepasses import PASSES
from polymat.codegen.signals.recursiveruns import RUNS
from polymat.errors import InternalError
from polymat.tilesize.filterblock import RUN

LEAST_RUN = 16  # positions of a run for which runs side by side are worth it
WIDER = {"f32": "double", "f64": "long double"}  # where there is such a type
LIMITS = {"f32": "0x1p126f", "f64": "0x1p1022"}


@dataclass(frozen=True, slots=True)
class RecursiveShape:
    """Sections of one form, in vectors of `lanes` samples.

    suffix: "f32" or "f64".  forward, back: how far back in time the samples lie that a section reads.
    """

    suffix: str
    lanes: int
    forward: tuple[int, ...]
    back: tuple[int, ...]

    @property
    def depth(self) -> int:
        """How many samples of every signal are remembered."""
        return max(*self.forward, *self.back)

    @property
    def past(self) -> int:
        """How many past results make up the state of a section."""
        return max(self.back)

    @property
    def need(self) -> str:
        """The name under which the prelude knows it."""
        offsets = ("x".join(map(str, each)) for each in (self.forward, self.back))
        return f"recursive_{self.suffix}_{self.lanes}_{'_'.join(offsets)}"

    @property
    def name(self) -> str:
        """The end of the names of the C functions that filter blocks of this shape."""
        return self.need.removeprefix("recursive_")

    @staticmethod
    def parse(need: str) -> RecursiveShape:
        """The shape that has this name in the prelude."""
        kind, suffix, lanes, *offsets = need.split("_")
        if kind != "recursive" or suffix not in C_TYPES or len(offsets) != 2:
            raise InternalError(f"bug in polymat: {need} is no block of recursive filters")
        forward, back = (tuple(int(number) for number in each.split("x")) for each in offsets)
        return RecursiveShape(suffix, int(lanes), forward, back)

    def tables(self, sections: int) -> int:
        """Elements of working memory: the tables of all sections, states and a block."""
        own = RUN * self.past + 2 * (self.depth + self.past) * self.lanes
        return sections * own + (RUN + 4 * self.depth + 4) * self.lanes


def recursive_text(need: str) -> str:
    """The C text behind a need of the prelude."""
    shape = RecursiveShape.parse(need)
    name, kind, depth = shape.name, C_TYPES[shape.suffix], shape.depth
    back = range(shape.past)
    octets = kernel_text("shuffles")
    octets += kernel_text("octets", macros={"T": kind, "NAME(name)": f"_pm_##name##_recursive_{name}"})
    return octets + Template(PASSES + RUNS + _CHANNELS).substitute(
        N=name,
        T=kind,
        L=shape.lanes,
        D=depth,
        R=RUN,
        LEAST=LEAST_RUN,
        NB=len(shape.back),
        P=shape.past,
        NC=len(shape.forward) + len(shape.back),
        LIMIT=LIMITS[shape.suffix],
        WIDE=WIDER[shape.suffix],
        step=_step(shape),
        serial_state=_state(shape, kind),
        state=_state(shape, f"_pm_rec_vector_{name}"),
        coefficients=_coefficients(shape),
        shift=_shift(shape),
        restored="".join(f" + t[{i}] * before[{i}]" for i in back),
        carried="".join(f" + h[{i}] * part[{i}]" for i in back),
        parts=_parts(shape),
        offsets=", ".join(map(str, shape.back)),
    )


def _parts(shape: RecursiveShape) -> str:
    """The first past result, and the differences of those that follow each other."""
    parts = ["old[0]", *(f"old[{k - 1}] - turn * old[{k}]" for k in range(1, shape.past))]
    return "{" + ", ".join(parts) + "}"


def _coefficients(shape: RecursiveShape) -> str:
    count = len(shape.forward)
    names = [f"f{j} = c[{i}]" for i, j in enumerate(shape.forward)]
    names += [f"g{k} = c[{count + i}]" for i, k in enumerate(shape.back)]
    return f"const {C_TYPES[shape.suffix]} {', '.join(names)};"


def _state(shape: RecursiveShape, kind: str) -> str:
    """The samples of the past, the newest first, as variables."""
    xs = [f"x{j} = xs[{j - 1}]" for j in range(1, max(shape.forward) + 1)]
    ys = [f"y{k} = ys[{k - 1}]" for k in range(1, max(shape.back) + 1)]
    return f"{kind} {', '.join([*xs, *ys])};"


def _step(shape: RecursiveShape) -> str:
    """The next result; what waits longest for the result before comes last."""
    first, *rest = shape.forward
    lines = [f"y0 = f{first} * x{first};", *(f"y0 += f{j} * x{j};" for j in rest)]
    lines += [f"y0 -= g{k} * y{k};" for k in reversed(shape.back)]
    return " ".join(lines)


def _shift(shape: RecursiveShape) -> str:
    moves = [f"x{j} = x{j - 1};" for j in range(max(shape.forward), 0, -1)]
    moves += [f"y{k} = y{k - 1};" for k in range(max(shape.back), 0, -1)]
    return " ".join(moves)


_CHANNELS = """\
/* $L channels side by side, from sample `first` on. */
static void _pm_rec_channels_$N(ptrdiff_t first, ptrdiff_t count, ptrdiff_t sections, const $T *c,
        const $T *x, ptrdiff_t x_across, ptrdiff_t x_along, $T *y, ptrdiff_t y_across, ptrdiff_t y_along,
        $T *last, $T *work)
{
    const ptrdiff_t size = (sections + 1) * $D;
    _pm_rec_vector_$N *const states = (_pm_rec_vector_$N *)(void *)work;
    $T *const block = work + 2 * sections * $D * $L + (4 * $D + 4) * $L;
    for (ptrdiff_t k = 0; k < size; k++)
        for (int lane = 0; lane < $L; lane++)
            work[k * $L + lane] = last[lane * size + k];
    for (ptrdiff_t n = first; n < count;) {
        const ptrdiff_t run = count - n < $R ? (count - n) / 8 * 8 : $R;
        if (run == 0)
            break;
        _pm_rec_load_$N(run, x + n * x_along, x_across, x_along, block);
        const _pm_rec_vector_$N *const rows = (const _pm_rec_vector_$N *)(const void *)block + run - 1;
        for (ptrdiff_t s = 0; s < sections; s++) {
            _pm_rec_vector_$N before[$D];
            for (int k = 0; k < $D; k++) {
                before[k] = states[s * $D + k];
                states[s * $D + k] = rows[-k];
            }
            _pm_rec_plain_$N(run, c + s * $NC, before, states + (s + 1) * $D,
                             (_pm_rec_vector_$N *)(void *)block);
        }
        for (int k = 0; k < $D; k++)
            states[sections * $D + k] = rows[-k];
        _pm_rec_store_$N(run, block, NULL, NULL, y + n * y_along, y_across, y_along);
        n += run;
    }
    for (ptrdiff_t k = 0; k < size; k++)
        for (int lane = 0; lane < $L; lane++)
            last[lane * size + k] = work[k * $L + lane];
}

/* Channels of `count` samples each, which lie `along` apart, through sections in a row.

   c: the coefficients of every section, $NC each.  start: what is added to the first $D results of every
   section, or what they are (is_given), channel by channel; or NULL.  last: room for $D samples of every
   signal and channel, which are the last ones in the end. */
static void _pm_recursive_$N(ptrdiff_t channels, ptrdiff_t count, ptrdiff_t sections, const $T *c,
        const $T *start, int is_given, const $T *x, ptrdiff_t x_across, ptrdiff_t x_along, $T *y,
        ptrdiff_t y_across, ptrdiff_t y_along, $T *last, $T *work)
{
    const ptrdiff_t size = (sections + 1) * $D;
    const ptrdiff_t sides = $D > 8 ? 0 : channels / $L * $L;
    const int is_tabled = count >= $LEAST * $L + $D && sides < channels;
    for (ptrdiff_t k = 0; k < channels * size; k++)
        last[k] = 0;
    if (is_tabled) {
        $T *const most = work + sections * $R * $P + sections * ($D + $P) * $L;
        const ptrdiff_t rows = count / $L < $R ? count / $L : $R;
        for (ptrdiff_t s = 0; s < sections; s++)
            most[s] = _pm_rec_table_$N(rows, c + s * $NC, work + s * $R * $P);
    }
    for (ptrdiff_t channel = sides; channel < channels; channel++) {
        const $T *const own = start == NULL ? NULL : start + channel * sections * $D;
        _pm_rec_channel_$N(0, count, sections, c, own, is_given, x + channel * x_across, x_along,
                y + channel * y_across, y_along, last + channel * size, is_tabled, work);
    }
    for (ptrdiff_t channel = 0; channel < sides; channel += $L) {
        const ptrdiff_t rest = count < $D ? 0 : (count - $D) / 8 * 8, first = count - rest;
        for (ptrdiff_t lane = channel; lane < channel + $L; lane++) {
            const $T *const own = start == NULL ? NULL : start + lane * sections * $D;
            _pm_rec_channel_$N(0, first, sections, c, own, is_given, x + lane * x_across, x_along,
                    y + lane * y_across, y_along, last + lane * size, 0, work);
        }
        _pm_rec_channels_$N(first, count, sections, c, x + channel * x_across, x_across, x_along,
                y + channel * y_across, y_across, y_along, last + channel * size, work);
    }
}
"""
