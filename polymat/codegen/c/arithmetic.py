"""C functions with the exact semantics of NumPy where C's operators differ, as texts for the prelude."""

from __future__ import annotations

from string import Template

from polymat.codegen.c.bessel import I0_DOUBLE, I0_FLOAT

_SIGNED = {f"i{bits}": (f"int{bits}_t", f"uint{bits}_t") for bits in (8, 16, 32, 64)}
_UNSIGNED = {f"u{bits}": (f"uint{bits}_t", f"uint{bits}_t") for bits in (8, 16, 32, 64)}
_TRUTH = {"b8": ("uint8_t", "uint8_t")}
_FLOATS = {"f32": ("float", "f"), "f64": ("double", "")}
_COMPLEX = {"c64": ("float", "f"), "c128": ("double", "")}

# Floor division and its remainder: 0 for a division by zero, and the least value divided by -1 wraps.
_FLOORDIV_SIGNED = Template("""\
static inline $T _pm_floordiv_$S($T a, $T b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return ($T)(0u - ($U)a);
    const $T q = ($T)(a / b);
    return ($T)(q - ((a % b != 0) & ((a ^ b) < 0)));
}
""")
_FLOORDIV_UNSIGNED = Template("""\
static inline $T _pm_floordiv_$S($T a, $T b)
{
    return ($T)(b == 0 ? 0 : a / b);
}
""")
_MOD_SIGNED = Template("""\
static inline $T _pm_mod_$S($T a, $T b)
{
    if (b == 0 || b == -1)
        return 0;
    const $T r = ($T)(a % b);
    return ($T)(((r != 0) & ((r ^ b) < 0)) ? r + b : r);
}
""")
_MOD_UNSIGNED = Template("""\
static inline $T _pm_mod_$S($T a, $T b)
{
    return ($T)(b == 0 ? 0 : a % b);
}
""")
# Power by squaring, wrapping; a negative exponent gives the quotient towards zero, 0 but for 1 and -1.
_POW_SIGNED = Template("""\
static inline $T _pm_pow_$S($T base, $T exponent)
{
    if (exponent < 0)
        return ($T)(base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0);
    $W result = 1, power = ($W)base;
    for ($W left = ($W)exponent; left != 0; left >>= 1) {
        if (left & 1)
            result *= power;
        power *= power;
    }
    return ($T)result;
}
""")
_POW_UNSIGNED = Template("""\
static inline $T _pm_pow_$S($T base, $T exponent)
{
    $W result = 1, power = base;
    for ($W left = exponent; left != 0; left >>= 1) {
        if (left & 1)
            result *= power;
        power *= power;
    }
    return ($T)result;
}
""")
_MIN_INTEGER = Template("static inline $T _pm_min_$S($T a, $T b)\n{\n    return a < b ? a : b;\n}\n")
_MAX_INTEGER = Template("static inline $T _pm_max_$S($T a, $T b)\n{\n    return a > b ? a : b;\n}\n")
_ABS_SIGNED = Template("""\
static inline $T _pm_abs_$S($T a)
{
    return a < 0 ? ($T)(0u - ($U)a) : a;
}
""")
_SIGN_SIGNED = Template("static inline $T _pm_sign_$S($T a)\n{\n    return ($T)((a > 0) - (a < 0));\n}\n")
_SIGN_UNSIGNED = Template("static inline $T _pm_sign_$S($T a)\n{\n    return ($T)(a > 0);\n}\n")

# A NaN on either side is the result; written without branches, for the vectoriser.  Beside a constant on the
# right, as in max(x, 0), one comparison says it all, and where both are equal `b` is the result either way.
_MIN_FLOAT = Template("""\
static inline $T _pm_min_$S($T a, $T b)
{
    if (__builtin_constant_p(b))
        return ((a >= b) | (b != b)) ? b : a;
    return ((a < b) | (a != a)) ? a : b;
}
""")
_MAX_FLOAT = Template("""\
static inline $T _pm_max_$S($T a, $T b)
{
    if (__builtin_constant_p(b))
        return ((a <= b) | (b != b)) ? b : a;
    return ((a > b) | (a != a)) ? a : b;
}
""")
# Python's quotient and remainder, as NumPy computes them, with the same rounding and the same signs of zero.
_FLOORDIV_FLOAT = Template("""\
static inline $T _pm_floordiv_$S($T a, $T b)
{
    if (b == 0)
        return a / b;
    const $T r = fmod$F(a, b);
    $T quotient = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign$F(0, a / b);
    const $T whole = floor$F(quotient);
    return quotient - whole > ($T)0.5 ? whole + 1 : whole;
}
""")
_MOD_FLOAT = Template("""\
static inline $T _pm_mod_$S($T a, $T b)
{
    const $T r = fmod$F(a, b);
    if (b == 0)
        return r;
    if (r == 0)
        return copysign$F(0, b);
    return (b < 0) != (r < 0) ? r + b : r;
}
""")
_IPOW_FLOAT = Template("""\
static inline $T _pm_ipow_$S($T base, int64_t exponent)
{
    $T result = 1;
    for (uint64_t left = exponent < 0 ? 0u - (uint64_t)exponent : (uint64_t)exponent; left != 0; left >>= 1) {
        if (left & 1)
            result *= base;
        base *= base;
    }
    return exponent < 0 ? 1 / result : result;
}
""")
# gcc 12 makes x / sqrt(1 + x * x) of sin(atan(x)), which for NaN it takes to be 1, unless it cannot see it.
_ATAN_FLOAT = Template("""\
static __attribute__((noinline, noclone, const)) $T _pm_atan_$S($T a)
{
    return atan$F(a);
}
""")
_SIGN_FLOAT = Template("""\
static inline $T _pm_sign_$S($T a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;
}
""")

# Smith's division, as NumPy computes it; a division by zero gives infinities, or NaN.
_DIV_COMPLEX = Template("""\
static inline $T _Complex _pm_div_$S($T _Complex a, $T _Complex b)
{
    const $T c = __real__ b, d = __imag__ b;
    if (c == 0 && d == 0)
        return __builtin_complex(__real__ a / fabs$F(c), __imag__ a / fabs$F(c));
    if (fabs$F(c) >= fabs$F(d)) {
        const $T ratio = d / c, scale = 1 / (c + d * ratio);
        return __builtin_complex((__real__ a + __imag__ a * ratio) * scale,
                                 (__imag__ a - __real__ a * ratio) * scale);
    }
    const $T ratio = c / d, scale = 1 / (c * ratio + d);
    return __builtin_complex((__real__ a * ratio + __imag__ a) * scale,
                             (__imag__ a * ratio - __real__ a) * scale);
}
""")

# NumPy's power: small integer exponents by multiplication, 0 to the power 0 is 1.
_POW_COMPLEX = Template("""\
static inline $T _Complex _pm_pow_$S($T _Complex a, $T _Complex b)
{
    const $T exponent = __real__ b;
    if (exponent == 0 && __imag__ b == 0)
        return 1;
    if (__real__ a == 0 && __imag__ a == 0)
        return exponent > 0 ? 0 : __builtin_complex(($T)NAN, ($T)NAN);
    if (__imag__ b != 0 || exponent != rint$F(exponent) || fabs$F(exponent) >= 100)
        return __builtin_cpow$F(a, b);
    $T _Complex result = 1, power = a;
    for (int left = (int)fabs$F(exponent); left != 0; left >>= 1) {
        if (left & 1)
            result = result == 1 ? power : result * power;
        power *= power;
    }
    return exponent < 0 ? _pm_div_$S(1, result) : result;
}
""")

# A loop with an OpenMP reduction of this name is vectorised; one that only calls the function is not.
_REDUCTION = Template("""\
#pragma omp declare reduction(_pm_${N}_$S : $T : omp_out = _pm_${N}_$S(omp_out, omp_in)) \\
    initializer(omp_priv = $I)
""")

_SIGNED_FUNCTIONS = {
    "floordiv": _FLOORDIV_SIGNED,
    "mod": _MOD_SIGNED,
    "pow": _POW_SIGNED,
    "min": _MIN_INTEGER,
    "max": _MAX_INTEGER,
    "abs": _ABS_SIGNED,
    "sign": _SIGN_SIGNED,
}
_UNSIGNED_FUNCTIONS = {
    "floordiv": _FLOORDIV_UNSIGNED,
    "mod": _MOD_UNSIGNED,
    "pow": _POW_UNSIGNED,
    "min": _MIN_INTEGER,
    "max": _MAX_INTEGER,
    "sign": _SIGN_UNSIGNED,
}
_FLOAT_FUNCTIONS = {
    "floordiv": _FLOORDIV_FLOAT,
    "mod": _MOD_FLOAT,
    "ipow": _IPOW_FLOAT,
    "atan": _ATAN_FLOAT,
    "min": _MIN_FLOAT,
    "max": _MAX_FLOAT,
    "sign": _SIGN_FLOAT,
}


def _definitions() -> dict[str, str]:
    texts: dict[str, str] = {}
    of_truth = {name: _UNSIGNED_FUNCTIONS[name] for name in ("min", "max")}
    of_types = ((_SIGNED, _SIGNED_FUNCTIONS), (_UNSIGNED, _UNSIGNED_FUNCTIONS), (_TRUTH, of_truth))
    for types, functions in of_types:
        for suffix, (ctype, unsigned) in types.items():
            wide = "uint64_t" if suffix in ("i64", "u64") else "uint32_t"
            for name, template in functions.items():
                texts[f"{name}_{suffix}"] = template.substitute(T=ctype, U=unsigned, W=wide, S=suffix)
    for suffix, (ctype, tail) in _FLOATS.items():
        for name, template in _FLOAT_FUNCTIONS.items():
            texts[f"{name}_{suffix}"] = template.substitute(T=ctype, F=tail, S=suffix)
        for name, neutral in (("min", "INFINITY"), ("max", "-INFINITY")):
            texts[f"reduction_{name}_{suffix}"] = _REDUCTION.substitute(N=name, T=ctype, S=suffix, I=neutral)
    for suffix, (ctype, tail) in _COMPLEX.items():
        texts[f"div_{suffix}"] = _DIV_COMPLEX.substitute(T=ctype, F=tail, S=suffix)
        texts[f"pow_{suffix}"] = _POW_COMPLEX.substitute(T=ctype, F=tail, S=suffix)
    texts |= {"i0_f64": I0_DOUBLE, "i0_f32": I0_FLOAT}
    return texts


_DEFINITIONS = _definitions()


def arithmetic_names() -> frozenset[str]:
    """Every function there is: "floordiv_i32", "min_f64" and so on."""
    return frozenset(_DEFINITIONS)


def arithmetic(needs: frozenset[str]) -> list[str]:
    """The definitions of those needs that are functions of this module, in a fixed order."""
    wanted = needs | {name.removeprefix("reduction_") for name in needs}
    wanted |= {name.replace("pow_c", "div_c").replace("i0_f32", "i0_f64") for name in needs}
    return [text for name, text in _DEFINITIONS.items() if name in wanted]
