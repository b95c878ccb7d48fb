"""Everything a user may decide about a compilation, in one frozen value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from polymat.errors import LangError, OptionError, caller_location
from polymat.namedfields import knows_its_fields
from polymat.userkernel import Microkernel

MOST_THREADS = 4096
MOST_BANDS = 64  # steps, each of which has stages and code of its own: for the time of compiling
_TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
# The passes that a pipeline is compiled right without, by name; `polymat.passes` says what each does.
SKIPPABLE = (
    *("terms", "share", "extremes", "samples", "products", "cascades", "blocks", "phases", "transforms"),
    *("inline", "inlined_terms", "tables", "abreast", "join", "convert", "parts", "borders", "positions"),
    *("inlined_turns", "inlined_planes", "fusion", "folds", "orders", "bands", "slices", "sums"),
    *("linear", "waits", "planes", "points", "skews", "segments", "lanes"),
)
LibraryUse = Literal["auto", "always", "never"]
_COUNTS = {  # from, to, and what 0 says
    "threads": (1, MOST_THREADS, "as many as set_num_threads says"),
    "bands": (2, MOST_BANDS, "as many as pay: each step of a band has code of its own"),
}
# Options that have an effect beside these values alone, or where another one has none of those.
_LEAVES_NOTHING: tuple[tuple[str, tuple[str, ...], str, tuple[Any, ...], str], ...] = (
    ("fft_rigour", ("estimate",), "fft", ("never",), "calls no library"),
    ("fir", ("auto", "direct"), "fft", ("never",), "calls no transforms"),
    ("fir", ("auto", "direct"), "cost", ("paper", "polymage"), "has no transforms"),
    ("blocks", ("shares",), "kernels", (False,), "leaves register blocks out"),
)


@knows_its_fields
@dataclass(frozen=True, slots=True)
class Options:
    """Knobs of one compilation; the defaults are what is measured to be best.

    `Options.naive()`, `polymage()`, `paper()` and `default()` are whole sets of them; each takes changes by
    name, `Options.paper(threads=2)`.

    Four say what this program shall be, `tile_sizes`, `scheme`, `bands` and `blocks` but "shares": an
    `OptionError` says why where nothing in it can be so.  All others say what may be done (`skip`, `math`,
    `blas="never"`), or how it is done where there is such a thing (`blas="always"`, `fir="blocks"`), and suit
    any program, but beside others that leave them nothing; `explain()` says why a sum is no call.

    threads: threads a call uses, at most 4096; 0: `set_num_threads`, `OMP_NUM_THREADS`, then the processors.
    cost: what groups and tile sizes are chosen by: "time" is predicted seconds; "paper" the PolyMage matrix
    thesis (its Algorithms 3, 4 and 5); "polymage" what the thesis starts from (its Algorithms 1 and 2).
    share: compute stages with the same definition once, and expensive expressions of several sums in tiles.
    inline: substitute point-wise stages that are read once into their reader.
    reassociate: multiply several arrays in the order that is predicted to be the quickest (A @ B @ v as
    A @ (B @ v), a contraction of several arrays two at a time) instead of as written, and take a common
    factor out of sums of them (A @ B + A @ C).  Products of floating-point numbers are associative up to
    rounding alone: what is between 0 and infinity in one order may be either, or NaN, in another.
    join: run over the last two dimensions as over one where the last has a few points, as channels have.
    keep: compute sums that depend on no argument, the spectrum of constant taps say, in the first call alone.
    fuse: run stages that share data in one loop over tiles.
    siblings: among them stages that only read the same array; and compute products of one large array with
    several small ones, A @ x and A @ Y, as one product where that is predicted to be quicker.
    overlap: among them stages that a tile computes again where it overlaps its neighbours.
    rolling: let those keep the rows that the next tile needs, where they can, instead.
    private: let every thread add up sums in a copy of its own where a summed dimension is shared out.
    tile: loops over tiles at all; without them nothing is fused or private.
    tile_sizes: sizes for the tiled dimensions of every group, outermost first, instead of the chosen ones;
    the last one counts for all further dimensions; an `OptionError` where no tiled stage has so many.
    outwards: share out a recurrence's independent dimension around all its loops, so that threads meet once.
    unroll: run several points of the outer loop together, so that they share loads (unroll and jam), and
    several rows of a sweep by turns, so that none waits for the point right before it.
    vector: mark inner loops as vectorisable; without it the C compiler vectorises what it proves by itself.
    blas, fft: when library routines are called: "auto" where that is predicted to be faster, "always" where a
    routine fits (an error where the library does not have it), "never".
    fir: how filters of one dimension are computed: "auto" in the way predicted to be the fastest; "blocks" by
    transforms of blocks that overlap, where the number of taps is known; "whole" by one transform of all
    samples; "fft" by the faster of these two; "direct" by sums (errors are relative to each result, and an
    infinity or NaN reaches only the results that it is part of).  By sums, too, without a library.
    fft_rigour: "measure" tries plans of FFTW out on arrays of that size at the first call, for about two
    seconds a plan at most, and remembers the best; "estimate" does not.
    kernels: compute sums of products of two arrays with register blocks and packed operands.
    steps: compute many steps of an elimination at a time, whose products for later results become products of
    matrices (`reassociate`, `kernels` and the pass `folds` are needed for it).
    blocks: for the caches: "shares" by measured parts; "working-sets" by PolyDL's ranking (section 4) at the
    estimates; "model" by Li's model of data movement; "learned" by PolyDL's learned ranker of its variants.
    bands: how many steps of recurrences whose last states alone are read share tiles, 64 at most; 0: as pays.
    math: whose exp, log, sin, atan, erf, pow ... of real numbers: "vector" is polymat's own code, which loops
    run on whole vectors, the same bits at every point, wrong by less than 4 units in the last place
    (docs/design.md says by how much each); "libm" calls the C library's, one number at a time.
    target: the processor that code is for, in the compiler's words: "native", the one at hand, or
    "x86-64-v3", "armv8.2-a" and so on, for libraries that are saved for others.  What is measured of the one
    at hand still decides how code is written, as far as the target has its vectors.
    scheme: the loops of sums of products of two arrays, by the names of their stages, in the atoms that
    Tollenaere and others have, {"C": "[R(j), T(k, 256), pack(B), R(i), R(k), U(i, 6), V(j, 4)]"}: written as
    it says, whatever they cost, and fused with nothing; of other stages, loops and tiles, and the stages that
    share these, {"blurred": "[fuse(along), T(x, 32), T(y, 256)]"}; the guide to schemes has the language.
    microkernels: blocks of products in C of your own, `Microkernel`, each called by a scheme.
    skip: passes that are left out, by name; `python -m polymat dump --list` says what each of them does.
    cflags: further compiler flags, after polymat's own (a sanitizer, say).
    parallel_threshold: estimated scalar operations below which a loop nest stays on the calling thread; None:
    below what a parallel region costs on this machine, more when its threads have gone to sleep.
    """

    threads: int = 0
    cost: Literal["time", "paper", "polymage"] = "time"
    share: bool = True
    inline: bool = True
    reassociate: bool = True
    join: bool = True
    keep: bool = True
    fuse: bool = True
    siblings: bool = True
    overlap: bool = True
    rolling: bool = True
    private: bool = True
    tile: bool = True
    tile_sizes: tuple[int, ...] = ()
    outwards: bool = True
    unroll: bool = True
    vector: bool = True
    blas: LibraryUse = "auto"
    fft: LibraryUse = "auto"
    fir: Literal["auto", "direct", "fft", "blocks", "whole"] = "auto"
    fft_rigour: Literal["estimate", "measure"] = "estimate"
    kernels: bool = True
    steps: bool = True
    bands: int = 0
    math: Literal["vector", "libm"] = "vector"
    blocks: Literal["shares", "working-sets", "model", "learned"] = "shares"
    target: str = "native"
    scheme: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    microkernels: tuple[Microkernel, ...] = ()
    skip: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()
    parallel_threshold: int | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, _checked(item.name, getattr(self, item.name)))
        for name, usual, other, values, why in _LEAVES_NOTHING:
            value, left = getattr(self, name), getattr(self, other)
            if value not in usual and left in values:
                text = f"Options.{name}={value!r} has no effect: {other}={left!r} {why}"
                raise OptionError(text, at=caller_location(), hint="leave one of the two out")

    @property
    def compiler_flags(self) -> tuple[str, ...]:
        """The flags that the user adds for the compiler: the target's and `cflags`."""
        return self.cflags if self.target == "native" else (f"-march={self.target}", *self.cflags)

    @property
    def schemes(self) -> dict[str, str]:
        """The schemes by the names of their stages."""
        return dict(self.scheme)

    @classmethod
    def default(cls, **changes: Any) -> Options:
        """Everything switched on, chosen by predicted time."""
        return cls(**changes)

    @classmethod
    def naive(cls, **changes: Any) -> Options:
        """No optimisation: every stage as it is written, in plain loops over whole arrays.

        The outer loop is shared out to `threads` where its points are independent.
        """
        switches = (
            *("share", "inline", "reassociate", "join", "keep", "fuse", "siblings", "overlap", "rolling"),
            *("private", "tile", "outwards", "unroll", "vector", "kernels", "steps"),
        )
        return cls(
            **{
                **dict.fromkeys(switches, False),
                "blas": "never",
                "fft": "never",
                "fir": "direct",
                "math": "libm",
                **changes,
            }
        )

    @classmethod
    def polymage(cls, **changes: Any) -> Options:
        """PolyMage before the thesis: Algorithms 1 and 2, overlapped tiles, reductions alone and untiled."""
        return cls(**{**_PUBLISHED, "cost": "polymage", "blas": "never", **changes})

    @classmethod
    def paper(cls, **changes: Any) -> Options:
        """The thesis: cost by Algorithm 4, tile sizes by Algorithm 3, order in a tile by Algorithm 5.

        Products of at least 256³ multiplications are mapped to a library, unless `blas` says otherwise.
        """
        return cls(**{**_PUBLISHED, "cost": "paper", **changes})


# What neither the thesis nor PolyMage has.
_PUBLISHED = {
    **dict.fromkeys(("reassociate", "join", "keep", "siblings", "rolling", "private", "outwards"), False),
    **dict.fromkeys(("unroll", "kernels", "steps"), False),
}


def check_options(options: Any) -> Options:
    """Return `options` if they are an `Options`, which checks its fields when it is made."""
    if isinstance(options, Options):
        return options
    raise LangError(
        f"options= is an Options, got {type(options).__name__} {options!r:.60}",
        at=caller_location(),
        hint="options=Options(threads=2)",
    )


def _checked(name: str, value: Any) -> Any:
    """The value of a field, NumPy's numbers made Python's, if it is what the field's annotation says."""
    given, value, hint = value, _plain(value), _hints()[name]
    if not _holds(value, hint):
        if name == "scheme" and isinstance(given, Mapping):
            given = {stage: text for stage, text in given.items() if {type(stage), type(text)} != {str}}
        text = f"Options.{name} is {given!r:.60}, not {_word(hint, hint)}"
        is_lone = isinstance(given, str) and hint == tuple[str, ...]
        usual = f"{name}=({given!r:.60},)" if is_lone else f"the default is {getattr(DEFAULTS, name)!r}"
        raise LangError(text, at=caller_location(), hint=usual)
    if name in _COUNTS and value > _COUNTS[name][1]:
        least, most, usual = _COUNTS[name]
        text = f"Options.{name} is {value}: an integer from {least} to {most} is needed"
        raise LangError(text, at=caller_location(), hint=f"or 0, the default, for {usual}")
    if name == "target" and not _TARGET.fullmatch(value):
        raise LangError(
            f"Options.target is {value!r:.60}, not the name of a processor",
            at=caller_location(),
            hint='"native", "x86-64-v3", "haswell", "armv8.2-a": what the compiler takes for -march=',
        )
    unknown = [each for each in value if each not in SKIPPABLE] if name == "skip" else []
    if unknown:
        text = f"Options.skip names {unknown[0]!r:.60}, which is no pass that can be left out"
        raise LangError(text, at=caller_location(), hint=f"those that can are {', '.join(SKIPPABLE)}")
    if name == "scheme" and len(dict(value)) < len(value):
        twice = next(stage for k, (stage, _) in enumerate(value) if stage in dict(value[:k]))
        raise LangError(f"Options.scheme has {twice!r} twice", at=caller_location(), hint="one text a stage")
    if name == "tile_sizes" and 0 in value:
        text = f"Options.tile_sizes is {value}, and a tile has at least one point"
        raise LangError(text, at=caller_location(), hint="tile_sizes=(32, 256), or (1,) for single points")
    return value


# The types of the class `Options`.
@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(Options)


def _plain(value: Any) -> Any:
    """A value with Python's numbers for NumPy's, and pairs for what is mapped."""
    if isinstance(value, Mapping):
        return tuple(sorted(value.items(), key=str))
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.integer | np.bool_) else value


_WORDS = {
    int: "an integer in 0 .. 2**31 - 1",
    int | None: "an integer in 0 .. 2**31 - 1 or None",
    bool: "True or False",
    str: "a string",
    tuple[int, ...]: "a tuple of integers in 1 .. 2**31 - 1",
    tuple[str, ...]: "a tuple of strings",
    tuple[Microkernel, ...]: "a tuple of Microkernel",
    Mapping[str, str] | tuple[tuple[str, str], ...]: "a dict from names of stages to the texts of schemes",
}


def _word(hint: Any, text: Any) -> str:
    """What a field takes, in words."""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(repr(value) for value in get_args(hint))
    return _WORDS.get(hint, str(text))


def _holds(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type; integers are counts that C can hold."""
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_holds(item, get_args(hint)[0]) for item in value)
    if get_origin(hint) is UnionType:
        return any(_holds(value, choice) for choice in get_args(hint))
    if get_args(hint):  # a Literal
        return isinstance(value, str) and value in get_args(hint)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return isinstance(value, hint)


DEFAULTS = Options()
