"""Vectors of rows stored in parts, and whole lines of memory written past the caches: the C text."""

from __future__ import annotations

from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES

STREAMS = "_PM_STREAMS"  # whether the C compiler has stores past the caches


def lines_text(need: str) -> str:
    """A piece of the prelude by its name, `lines_f32x16` say, put after the vectors of the same type."""
    suffix, lanes = need.removeprefix("lines_").split("x")
    return f"{_parts(suffix, int(lanes))}\n{_streams(suffix, int(lanes))}"


def _parts(suffix: str, count: int) -> str:
    """Stores at the ends of a row."""
    element = ELEMENT_BYTES[suffix]
    ctype, letter = C_TYPES[suffix], "s" if suffix == "f32" else "d"
    mask = "unsigned short" if count == 16 else "unsigned char"
    size, vector, full = count * element, f"_pm_row_{suffix}", hex((1 << count) - 1)
    return f"""\
/* Store the lanes of a vector from one on and before another; `to` is where the first lane would go. */
static inline void _pm_row_store_part_{suffix}({ctype} *to, {vector} value, ptrdiff_t from, ptrdiff_t end)
{{
    const int low = from > 0 ? (int)(from < {count} ? from : {count}) : 0;
    const int high = end < {count} ? (int)(end > 0 ? end : 0) : {count};
#if defined(__AVX512F__) && {size} == 64
    const {mask} lanes = ({mask})(low < high ? ({full}u >> ({count} - high)) & ({full}u << low) : 0);
    __builtin_ia32_storeup{letter}512_mask((void *)to, value, lanes);
#else
    for (int lane = low; lane < high; lane++)
        to[lane] = value[lane];
#endif
}}

/* The same number, but the C compiler does not know that it counts the turns of a loop: what the ends of a
   row alone need is then not kept up to date in every turn. */
static inline ptrdiff_t _pm_row_here_{suffix}(ptrdiff_t at)
{{
    __asm__("" : "+r"(at));
    return at;
}}
"""


def _streams(suffix: str, count: int) -> str:
    """Stores past the caches, or ordinary ones where the C compiler has none."""
    element, ctype = (4, "float") if suffix == "f32" else (8, "double")
    size = count * element
    return f"""\
/* How many elements lie before the first one that begins a line of memory, as long as a vector. */
static inline int _pm_row_turn_{suffix}(const {ctype} *from)
{{
    return (int)(-(uintptr_t)from % {size} / {element});
}}

/* Stores past the caches, which need not fetch a line before they replace it; `to` begins a line. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && {size} == 64
#define {STREAMS} 1
{_past(suffix, ctype, count, size)}
#else
#define {STREAMS} 0
{_ordinary(suffix, ctype, count)}
#endif
"""


def _past(suffix: str, ctype: str, count: int, size: int) -> str:
    vector, letter = f"_pm_row_{suffix}", "s" if suffix == "f32" else "d"
    integer = "int32_t" if suffix == "f32" else "int64_t"
    indices = ", ".join(map(str, range(count)))
    return f"""\
/* To be called behind them, before other threads are told that they are there. */
static inline void _pm_row_streamed_{suffix}(void)
{{
    __builtin_ia32_sfence();
}}

static inline void _pm_row_stream_{suffix}({ctype} *to, {vector} value)
{{
    __builtin_ia32_movntp{letter}512(to, value);
}}

/* The vector that begins `turn` elements behind the first of two neighbours. */
static inline {vector} _pm_row_turned_{suffix}({vector} now, {vector} next, int turn)
{{
    typedef {integer} lanes __attribute__((vector_size({size})));
    return __builtin_shuffle(now, next, (lanes){{{indices}}} + turn);
}}"""


def _ordinary(suffix: str, ctype: str, count: int) -> str:
    vector = f"_pm_row_{suffix}"
    return f"""\
static inline void _pm_row_streamed_{suffix}(void)
{{
}}

static inline void _pm_row_stream_{suffix}({ctype} *to, {vector} value)
{{
    _pm_row_store_{suffix}(to, value);
}}

static inline {vector} _pm_row_turned_{suffix}({vector} now, {vector} next, int turn)
{{
    {vector} result = now;
    for (int lane = 0; lane < {count}; lane++)
        result[lane] = lane + turn < {count} ? now[lane + turn] : next[lane + turn - {count}];
    return result;
}}"""
