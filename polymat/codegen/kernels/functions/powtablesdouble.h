/* The tables of powers of doubles: as those of floats, of 16 cells that lie around 1 + i / 16.

   In units of 1, the first a multiple of 2**-42; and the bits of 2**(j / 16).
*/
#pragma once

#include <stdint.h>
#include "functions/permuted.h"

#ifdef _PM_PERMUTED
static const double _pm_pow_inverse_f64[16] = {0x1p+0, 0x1.ep-1, 0x1.c8p-1, 0x1.bp-1, 0x1.98p-1, 0x1.88p-1,
        0x1.7p-1, 0x1.6p-1, 0x1.58p-1, 0x1.48p-1, 0x1.38p-1, 0x1.3p-1, 0x1.28p-1, 0x1.18p-1, 0x1.1p-1,
        0x1.08p-1};
static const double _pm_pow_high_f64[16] = {0.0, 0x1.08598b59e4p-4, 0x1.da72763844p-4, 0x1.5bf406b544p-3,
        0x1.d1037f2656p-3, 0x1.1178e8227ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2, 0x1.973a343135p-2,
        0x1.c7ff9c7455p-2, 0x1.fb358af7a5p-2, 0x1.0ae76e2d058p-1, 0x1.188ee40f24p-1, 0x1.35028ad9d9p-1,
        0x1.43d9ff2f92p-1, 0x1.5322e268678p-1};
static const double _pm_pow_low_f64[16] = {0.0, -0x1.7e5dd7009902cp-46, 0x1.a89401fa71733p-46,
        -0x1.27023eb68981cp-46, -0x1.84a7e75b6f6e4p-47, 0x1.1ef78ce2d07f2p-44, 0x1.ebe708164c759p-45,
        0x1.46fb79bf6d4cbp-44, 0x1.ab73b16bf4984p-44, 0x1.324911f56db29p-44, -0x1.def40b87d36d9p-44,
        -0x1.82de51de06076p-44, -0x1.accec41d52e6cp-44, -0x1.bd1f01ab60655p-44, 0x1.e267b0b7efae1p-44,
        0x1.5ccc45d257531p-47};
static const uint64_t _pm_pow_power_f64[16] = {0x3ff0000000000000u, 0x3fefb5586cf9890fu, 0x3fef72b83c7d517bu,
        0x3fef387a6e756238u, 0x3fef06fe0a31b715u, 0x3feedea64c123422u, 0x3feebfdad5362a27u,
        0x3feeab07dd485429u, 0x3feea09e667f3bcdu, 0x3feea11473eb0187u, 0x3feeace5422aa0dbu,
        0x3feec49182a3f090u, 0x3feee89f995ad3adu, 0x3fef199bdd85529cu, 0x3fef5818dcfba487u,
        0x3fefa4afa2a490dau};
#endif
