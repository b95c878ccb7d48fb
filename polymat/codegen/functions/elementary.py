"""The elementary functions of a program: their C text, by need, or the names of libm's.

Every function is scalar C in which each rounding is written down (`fma` where a product is added), so that
vectors of any length, their tails and single points have the same bits, by gcc and by clang.  What an
argument decides is a choice between two results, not a branch: loops become vectors.  Measured (Zen 4,
gcc 12): a comparison costs as much as a multiplication, and gcc follows a choice on a value that another
choice has set on both ways, which doubles what lies between; so there are few, each on a value as it came.
Long ones are inlined wherever they are used: gcc would call them, which keeps a loop from becoming vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import cache

from polymat.codegen.c.elements import FUNCTIONS
from polymat.codegen.c.needs import Helper, Need, Piece
from polymat.codegen.functions.angles import BY_ANGLE, angle
from polymat.codegen.functions.circular import CIRCULAR, circular
from polymat.codegen.functions.errorfunctions import error_function
from polymat.codegen.functions.exponentials import EXPONENTIALS, exponential
from polymat.codegen.functions.floatremainders import REMAINDERS, beyond_by, left_over, remainder
from polymat.codegen.functions.hyperbolic import HYPERBOLIC, hyperbolic
from polymat.codegen.functions.kind import KINDS, Kind
from polymat.codegen.functions.logarithms import BASES, SMALL_LOGARITHMS, logarithm, small_logarithm
from polymat.codegen.functions.powers import power
from polymat.codegen.functions.roots import cube_root, length_of_two
from polymat.codegen.functions.tangents import tangent

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
    "acos": 3.5,
    "acosh": 3.5,
    "asin": 3.5,
    "asinh": 2.5,
    "atan": 2.5,
    "atan2": 2.5,
    "atanh": 2.5,
    "cbrt": 1.0,
    "cos": 3.0,
    "cosh": 2.5,
    "erf": 2.0,
    "exp": 1.0,
    "exp2": 1.5,
    "expm1": 3.0,
    "hypot": 1.5,
    "log": 1.0,
    "log10": 2.5,
    "log1p": 1.5,
    "log2": 2.5,
    "pow": 2.0,
    "sigmoid": 2.5,
    "sin": 2.5,
    "sinh": 3.0,
    "tan": 3.5,
    "tanh": 3.0,
}
# Without fused multiply-adds, and without integers in vectors, they would be neither as exact nor as fast.
_BEGIN = "#if (defined(__FMA__) && defined(__AVX2__)) || defined(__aarch64__)\n"

# The functions, each with what writes it, in the order of the text.
_MAKERS: dict[str, Callable[[Kind, str], str]] = {
    **dict.fromkeys(EXPONENTIALS, exponential),
    **dict.fromkeys(BASES, logarithm),
    **dict.fromkeys(CIRCULAR, circular),
    **dict.fromkeys(HYPERBOLIC, hyperbolic),
    **dict.fromkeys(SMALL_LOGARITHMS, small_logarithm),
    **dict.fromkeys(BY_ANGLE, angle),
    "tan": tangent,
    "cbrt": cube_root,
    "erf": error_function,
    "pow": power,
    "hypot": length_of_two,
    **dict.fromkeys(REMAINDERS, remainder),
}
# What some of them call, which comes before them.
_CALLED = {
    **dict.fromkeys(HYPERBOLIC[1:], HYPERBOLIC[0]),
    **dict.fromkeys(SMALL_LOGARITHMS[1:], SMALL_LOGARITHMS[0]),
    **dict.fromkeys(BY_ANGLE[1:], BY_ANGLE[0]),
    "erf": "exp",
}
# Of other functions their headers, the same with libm's, and what they use.
_COMPOSED = {"sigmoid": ("exp",), "cabs": ("hypot",), "oddpow": ("pow",), "cis": ("cos", "sin")}


# The same for all programs.
@cache
def function_needs() -> frozenset[Helper]:
    """Every function of this module."""
    return frozenset(
        Helper(name, kind.suffix) for name in FUNCTIONS | {*_COMPOSED, *REMAINDERS} for kind in KINDS
    )


def rearranges(flags: Iterable[str]) -> bool:
    """Whether a compiler with these flags may not compute what these functions say."""
    return any(flag in _REARRANGING for flag in flags)


def functions_text(needs: frozenset[Need]) -> list[str]:
    """The definitions of those needs that are functions of this module, in a fixed order."""
    composed = _named(_COMPOSED, needs)
    asked = needs | {Helper(each, kind.suffix) for kind, name in composed for each in _COMPOSED[name]}
    libm = _libm(_named(_MAKERS, asked))
    if not libm:
        return []
    called = {Helper(_CALLED[name], kind.suffix) for kind, name in _named(_CALLED, asked)}
    own = _named(_MAKERS, asked | called)
    texts = [libm if Piece.LIBM in needs else f"{_own(own)}#else\n{libm}#endif\n"]
    return ["\n".join([*texts, *(_composed(kind, name) for kind, name in composed)])]


def _composed(kind: Kind, name: str) -> str:
    called = {"POWER": "pow", "COSINE": "cos", "SINE": "sin"}
    return kind.text(name, texts={macro: f"_pm_{each}_{kind.suffix}" for macro, each in called.items()})


def _named(names: Iterable[str], needs: Set[Need]) -> list[tuple[Kind, str]]:
    return [(kind, name) for kind in KINDS for name in names if Helper(name, kind.suffix) in needs]


def _own(wanted: list[tuple[Kind, str]]) -> str:
    """The functions by our own texts, where the processor is one for them."""
    shared = [kind.text("bits") for kind in KINDS if any(each == kind for each, _ in wanted)]
    shared += [left_over(kind) for kind in KINDS if any((kind, name) in wanted for name in REMAINDERS)]
    return "\n".join([_BEGIN, *shared, *(_definition(kind, name) for kind, name in wanted)])


# Texts of the package, which does not change.
@cache
def _definition(kind: Kind, name: str) -> str:
    return _MAKERS[name](kind, name)


def _libm(wanted: list[tuple[Kind, str]]) -> str:
    """The functions by libm's names."""
    return "".join(_plain(kind, name) for kind, name in wanted)


def _plain(kind: Kind, name: str) -> str:
    if name == "atan":
        return kind.text("plainatan")
    if name in REMAINDERS:
        return f"#define _pm_{name}_{kind.suffix} {beyond_by(kind, name)}\n"
    return f"#define _pm_{name}_{kind.suffix} __builtin_{name}{kind.tail}\n"
