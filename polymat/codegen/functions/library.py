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
from polymat.codegen.functions.exponentials import exponentials
from polymat.codegen.functions.kind import BITS, KINDS
from polymat.codegen.functions.logarithms import logarithms

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
ERRORS = {"exp": 1.0, "log": 1.0, "tanh": 3.0, "sin": 3.5, "cos": 3.5}
_OWN = "_PM_OWN_FUNCTIONS"
# Without fused multiply-adds, and without integers in vectors, they would be neither as exact nor as fast.
_BEGIN = f"""\
#if (defined(__FMA__) && defined(__AVX2__)) || defined(__aarch64__)
#define {_OWN}
"""


def _definitions() -> dict[str, str]:
    texts = {}
    for kind in KINDS:
        for functions in (exponentials(kind), logarithms(kind), circular(kind)):
            texts |= {f"{name}_{kind.suffix}": text for name, text in functions.items()}
    return texts


_DEFINITIONS = _definitions()
FUNCTIONS = frozenset(name.rpartition("_")[0] for name in _DEFINITIONS)


def function_names() -> frozenset[str]:
    """Every need that this module knows: "exp_f32" and so on, and "libm"."""
    return frozenset(_DEFINITIONS) | {LIBM}


def rearranges(flags: Iterable[str]) -> bool:
    """Whether a compiler with these flags may not compute what these functions say."""
    return any(flag in _REARRANGING for flag in flags)


def functions_text(needs: frozenset[str]) -> list[str]:
    """The definitions of those needs that are functions of this module, in a fixed order."""
    wanted = [name for name in _DEFINITIONS if name in needs]
    if not wanted:
        return []
    if LIBM in needs:
        return [_libm(wanted)]
    kinds = [kind for kind in KINDS if any(name.endswith(kind.suffix) for name in wanted)]
    own = [kind.text(BITS, {}) for kind in kinds] + [_DEFINITIONS[name] for name in wanted]
    return ["\n".join([_BEGIN, *own, f"#else\n{_libm(wanted)}#endif\n"])]


def _libm(wanted: list[str]) -> str:
    """The functions by libm's names."""
    tails = {kind.suffix: kind.tail for kind in KINDS}
    named = [name.rpartition("_") for name in wanted]
    return "".join(f"#define _pm_{name}_{kind} __builtin_{name}{tails[kind]}\n" for name, _, kind in named)
