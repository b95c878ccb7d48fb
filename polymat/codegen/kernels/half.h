/* Numbers of half precision and of bfloat16 as their sixteen bits, to single precision and back, without a
   branch. */
#pragma once

#include <stdint.h>

static inline float _pm_float_of(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } both = {bits};
    return both.value;
}

static inline uint32_t _pm_bits_of(float value)
{
    union {
        float value;
        uint32_t bits;
    } both = {value};
    return both.bits;
}

/* The exponent is 112 less; a product makes up for it, and is exact for numbers below the normal ones, too. */
static inline float _pm_widened_half(uint16_t half)
{
    const uint32_t size = half & 0x7fffu;
    const uint32_t finite = _pm_bits_of(_pm_float_of(size << 13) * 0x1p112f);
    const uint32_t other = size << 13 | 0x7f800000u;
    return _pm_float_of((size < 0x7c00u ? finite : other) | (uint32_t)(half & 0x8000u) << 16);
}

/* Rounded to the nearest, of two the even one.  Numbers below the normal ones are rounded by an addition. */
static inline uint16_t _pm_narrowed_half(float value)
{
    const uint32_t bits = _pm_bits_of(value), size = bits & 0x7fffffffu;
    const uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    const uint32_t small = _pm_bits_of(_pm_float_of(size) + 0.5f) - 0x3f000000u;
    const uint32_t large = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ffu) : 0x7c00u;
    const uint32_t finite = size < 0x38800000u ? small : normal;
    return (uint16_t)((size >= 0x477ff000u ? large : finite) | (bits >> 16 & 0x8000u));
}

/* The upper half of a number of single precision. */
static inline float _pm_widened_bfloat16(uint16_t upper)
{
    return _pm_float_of((uint32_t)upper << 16);
}

/* Rounded to the nearest, of two the even one; what is no number stays none. */
static inline uint16_t _pm_narrowed_bfloat16(float value)
{
    const uint32_t bits = _pm_bits_of(value), upper = bits >> 16;
    const uint32_t rounded = (bits + 0x7fffu + (upper & 1u)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? upper | 0x40u : rounded);
}
