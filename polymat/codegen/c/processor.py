"""The C text that asks, once, whether the processor has the instructions that a library was compiled with."""

from __future__ import annotations

# What compilers define for instructions they may use, and their words for asking the processor.
_FEATURES = (
    ("__SSE4_2__", "sse4.2"),
    ("__POPCNT__", "popcnt"),
    ("__AVX__", "avx"),
    ("__AVX2__", "avx2"),
    ("__FMA__", "fma"),
    ("__BMI__", "bmi"),
    ("__BMI2__", "bmi2"),
    ("__AVX512F__", "avx512f"),
    ("__AVX512CD__", "avx512cd"),
    ("__AVX512DQ__", "avx512dq"),
    ("__AVX512BW__", "avx512bw"),
    ("__AVX512VL__", "avx512vl"),
    ("__AVX512VBMI__", "avx512vbmi"),
    ("__AVX512VBMI2__", "avx512vbmi2"),
    ("__AVX512VNNI__", "avx512vnni"),
    ("__AVX512BITALG__", "avx512bitalg"),
    ("__AVX512VPOPCNTDQ__", "avx512vpopcntdq"),
)

_HEAD = """\
/* Whether the processor has the instructions that this was compiled with: 0 not asked yet, 1 it has, 2 it
   lacks some.  The question itself is compiled for any processor of the kind. */
static int _pm_processor_known;

#if defined __x86_64__ && defined __GNUC__
__attribute__((noinline, cold, target("arch=x86-64"))) static int _pm_processor_asked(void)
{
    int has = 1;
    __builtin_cpu_init();
"""

_TAIL = """\
    __atomic_store_n(&_pm_processor_known, 2 - has, __ATOMIC_RELAXED);
    return has;
}
#else
static int _pm_processor_asked(void)
{
    return 1;
}
#endif

static inline int _pm_processor_fits(void)
{
    return __atomic_load_n(&_pm_processor_known, __ATOMIC_RELAXED) == 1 || _pm_processor_asked();
}
"""


def processor_text() -> str:
    """`_pm_processor_fits()`."""
    lines = [
        f'#ifdef {macro}\n    has &= __builtin_cpu_supports("{name}") != 0;\n#endif\n'
        for macro, name in _FEATURES
    ]
    return _HEAD + "".join(lines) + _TAIL
