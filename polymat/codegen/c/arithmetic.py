"""C functions with the exact semantics of NumPy where C's operators differ, as texts for the prelude.

They stand in the headers `signed`, `unsigned`, `quotients`, `widequotients`, `floating`, `complex` and
`bessel` of the kernels, and in what these include.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cache

from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.kernels import (
    element_macros,
    kernel,
    kernel_functions,
    kernel_headers,
    kernel_text,
)
from polymat.codegen.c.needs import Helper, HelperReduction, Need
from polymat.dataclass import dataclass

_TRUTH = ("min", "max")  # what there is of truth values
_NEUTRAL = {"min": "INFINITY", "max": "-INFINITY"}
_I0 = {suffix: Helper("i0", suffix) for suffix in ("f64", "f32")}
_BESSEL = {_I0["f64"]: "bessel", _I0["f32"]: "besselfloat"}
# What a function calls: of each complex power the quotient.
_CALLED = {
    **{Helper("pow", suffix): Helper("div", suffix) for suffix in ("c64", "c128")},
    **{Helper(f"{op}alone", suffix): Helper("ifnan", suffix) for op in _NEUTRAL for suffix in _I0},
    **{
        Helper(f"{op}lanes", suffix): Helper(op, suffix)
        for op in ("floordiv", "mod")
        for suffix in (*_I0, "i64")
    },
    _I0["f32"]: _I0["f64"],
}
# As which numbers integers are divided in vectors, and what `quotients` takes of these.
_QUOTIENTS = {"i8": "f32", "u8": "f32", "i16": "f32", "u16": "f32", "i32": "f64", "u32": "f64"}
_DIVIDED_AS: dict[str, dict[str, object]] = {
    suffix: {
        "F": C_TYPES[suffix],
        "BITS": bits,
        "FLOOR(x)": f"__builtin_floor{tail}(x)",
        "COPYSIGN(x,y)": f"__builtin_copysign{tail}(x, y)",
        "UNIT": unit,
    }
    for suffix, tail, bits, unit in (
        ("f32", "f", "uint32_t", "12582912.0f"),
        ("f64", "", "uint64_t", "6755399441055744.0"),
    )
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A type: its suffix, its name in C, the header of its functions, and the suffix of its parts."""

    suffix: str
    ctype: str
    header: str
    element: str = ""

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that there are."""
        if self.suffix == "b8":
            return _TRUTH
        return tuple(name for header in self.headers for name in kernel_functions(header))

    @property
    def needs(self) -> frozenset[Helper | HelperReduction]:
        """All that are for this type."""
        reductions = _NEUTRAL if self.header == "floating" else ()
        combined = (HelperReduction(self._helper(name)) for name in reductions)
        return frozenset((*map(self._helper, self.functions), *combined))

    def has(self, wanted: Set[Need]) -> bool:
        """Whether some of its functions are wanted."""
        return any(self._helper(name) in wanted for name in self.functions)

    def text(self, wanted: Set[Need]) -> str:
        """The definitions of those that are wanted."""
        only = [name for name in self.functions if self._helper(name) in wanted]
        reductions = [name for name in only if HelperReduction(self._helper(name)) in wanted]
        functions = [self._functions(header, only) for header in self.headers]
        return "".join([*functions, *map(self._reduction, reductions)])

    @property
    def headers(self) -> tuple[str, ...]:
        """Those of its functions, each behind what it includes."""
        divided = ("quotients",) if self.suffix in _QUOTIENTS else ()
        divided = ("widequotients",) if self.suffix == "i64" else divided
        return (*kernel(self.header).kernels, self.header, *divided)

    def _functions(self, header: str, wanted: Sequence[str]) -> str:
        """The definitions of those that stand in a header."""
        only = [name for name in kernel_functions(header) if name in wanted]
        takes = dict(kernel(header).takes)
        macros = {macro: value for macro, value in self._macros().items() if macro in takes}
        return kernel_text(header, macros=macros, only=only) if only else ""

    def _helper(self, operation: str) -> Helper:
        return Helper(operation, self.suffix)

    def _macros(self) -> dict[str, object]:
        """Those that some header takes."""
        macros: dict[str, object] = {"T": self.ctype, "NAME(name)": f"_pm_##name##_{self.suffix}"}
        if self.element:
            bits = "uint32_t" if self.element == "f32" else "uint64_t"
            return element_macros(self.element) | macros | {"U": bits}
        macros |= _DIVIDED_AS[_QUOTIENTS.get(self.suffix, "f64")]
        return macros | {"W": "uint64_t" if self.suffix.endswith("64") else "uint32_t", "U": f"u{self.ctype}"}

    def _reduction(self, name: str) -> str:
        """The OpenMP reduction: a loop with it is vectorised; one that only calls the function is not."""
        function = self._helper(name).function
        combined = f"omp_out = {function}(omp_out, omp_in)) \\\n    initializer(omp_priv = {_NEUTRAL[name]})"
        return f"#pragma omp declare reduction({function} : {self.ctype} : {combined}\n"


_INTEGERS = [
    _Kind(f"{sign[:1] or 'i'}{bits}", f"{sign}int{bits}_t", header)
    for sign, header in (("", "signed"), ("u", "unsigned"))
    for bits in (8, 16, 32, 64)
]
_KINDS = (
    *_INTEGERS,
    _Kind("b8", "uint8_t", "unsigned"),
    *(_Kind(suffix, C_TYPES[suffix], "floating", suffix) for suffix in ("f32", "f64")),
    _Kind("c64", "float", "complex", "f32"),
    _Kind("c128", "double", "complex", "f64"),
)


# The same for all programs.
@cache
def arithmetic_needs() -> frozenset[Helper | HelperReduction]:
    """Every function there is, and every reduction."""
    return frozenset(_BESSEL).union(*(kind.needs for kind in _KINDS))


def arithmetic(needs: frozenset[Need]) -> list[str]:
    """The definitions of those needs that are functions of this module, in a fixed order."""
    wanted = _wanted(needs)
    bessel = [kernel_text(header) for helper, header in _BESSEL.items() if helper in wanted]
    return [*filter(None, (kind.text(wanted) for kind in _KINDS)), *bessel]


def arithmetic_headers(needs: frozenset[Need]) -> frozenset[str]:
    """The system's headers that these definitions use: those of integers none that takes long to read."""
    wanted = _wanted(needs)
    own = [header for kind in _KINDS if kind.has(wanted) for header in kind.headers]
    return kernel_headers(*own, *(header for helper, header in _BESSEL.items() if helper in wanted))


def _wanted(needs: frozenset[Need]) -> frozenset[Need]:
    """With the functions that these call."""
    wanted = needs | {need.helper for need in needs if isinstance(need, HelperReduction)}
    return wanted | {called for caller, called in _CALLED.items() if caller in needs}
