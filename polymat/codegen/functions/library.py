"""The elementary functions of a program: their C text, by need, or the names of libm's.

Every function is scalar C in which each rounding is written down (`fma` where a product is added), so that
vectors of any length, their tails and single points have the same bits, by gcc and by clang.  What an
argument decides is a choice between two results, not a branch: loops become vectors.  Measured (Zen 4,
gcc 12): a comparison costs as much as a multiplication, and gcc follows a choice on a value that another
choice has set on both ways, which doubles what lies between; so there are few, each on a value as it came.
"""

from __future__ import annotations

from collections.abc import Iterable

from polymat.codegen.functions.circular import circular
from polymat.codegen.functions.exponentials import SIGMOID, exponentials
from polymat.codegen.functions.kind import BITS, KINDS
from polymat.codegen.functions.logarithms import logarithms
from polymat.codegen.functions.powers import powers

LIBM = "libm"  # the need of a program whose elementary functions are all libm's
# What lets a compiler compute something else than is written, x for (x + 1e16) - 1e16 say.
_REARRANGING = (
    "-Ofast",
    "-ffast-math",
    "-funsafe-math-optimizations",
    "-fassociative-math",
    "-ffinite-math-only",
)
# Units in the last place by which no result was wrong in tests of ten million points, both types.
ERRORS = {
    "cos": 3.0,
    "exp": 1.0,
    "exp2": 1.5,
    "expm1": 3.0,
    "log10": 2.5,
    "log2": 2.5,
    "log": 1.0,
    "pow": 2.0,
    "sigmoid": 2.5,
    "sin": 2.5,
    "tanh": 3.0,
}
# Without fused multiply-adds, and without integers in vectors, they would be neither as exact nor as fast.
_BEGIN = """\
#if (defined(__FMA__) && defined(__AVX2__)) || defined(__aarch64__)
"""


# Of other functions, the same with libm's.
_COMPOSED = {"sigmoid": SIGMOID}
_USED = {"sigmoid": ("exp",)}


def _definitions() -> dict[str, str]:
    texts: dict[str, str] = {}
    for kind in KINDS:
        for functions in (exponentials(kind), logarithms(kind), circular(kind), powers(kind)):
            texts |= {f"{name}_{kind.suffix}": text for name, text in functions.items()}
    return texts


def _composed() -> dict[str, str]:
    texts: dict[str, str] = {}
    for kind in KINDS:
        texts |= {f"{name}_{kind.suffix}": kind.text(text, {}) for name, text in _COMPOSED.items()}
    return texts


_DEFINITIONS = _definitions()
_COMPOSITIONS = _composed()
FUNCTIONS = frozenset(name.rpartition("_")[0] for name in (*_DEFINITIONS, *_COMPOSITIONS))


def function_names() -> frozenset[str]:
    """Every need that this module knows: "exp_f32" and so on, and "libm"."""
    return frozenset((*_DEFINITIONS, *_COMPOSITIONS, LIBM))


def rearranges(flags: Iterable[str]) -> bool:
    """Whether a compiler with these flags may not compute what these functions say."""
    return any(flag in _REARRANGING for flag in flags)


def functions_text(needs: frozenset[str]) -> list[str]:
    """The definitions of those needs that are functions of this module, in a fixed order."""
    composed = [name for name in _COMPOSITIONS if name in needs]
    used = {f"{each}_{kind}" for name, _, kind in map(_parts, composed) for each in _USED[name]}
    wanted = [name for name in _DEFINITIONS if name in needs | used]
    if not wanted:
        return []
    texts = [_libm(wanted) if LIBM in needs else f"{_own(wanted)}#else\n{_libm(wanted)}#endif\n"]
    return ["\n".join([*texts, *(_COMPOSITIONS[name] for name in composed)])]


def _parts(name: str) -> tuple[str, str, str]:
    return name.rpartition("_")


def _own(wanted: list[str]) -> str:
    """The functions by our own texts, where the processor is one for them."""
    kinds = [kind for kind in KINDS if any(name.endswith(kind.suffix) for name in wanted)]
    return "\n".join(
        [_BEGIN, *(kind.text(BITS, {}) for kind in kinds), *(_DEFINITIONS[name] for name in wanted)]
    )


def _libm(wanted: list[str]) -> str:
    """The functions by libm's names."""
    tails = {kind.suffix: kind.tail for kind in KINDS}
    named = map(_parts, wanted)
    return "".join(f"#define _pm_{name}_{kind} __builtin_{name}{tails[kind]}\n" for name, _, kind in named)
