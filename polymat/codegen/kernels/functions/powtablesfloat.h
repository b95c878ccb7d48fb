/* The tables of powers of floats: of each cell of numbers from 1 to 2 a short 1 / c, and log(c) as two numbers.

   In units of log(2) / 32, the first a multiple of 2**-12.  And the bits of 2**(j / 32), less j where the bits of
   the exponent begin, as they are when j is added there.  Cells begin at 1 + i / 32.  Beside 1 the table says
   c = 1 and 0, or c = 2 and the logarithm of what the exponent is too small, so that logarithms near 1 are as
   exact as others.
*/
#pragma once

#include <stdint.h>
#include "functions/permuted.h"

#ifdef _PM_PERMUTED
static const float _pm_pow_inverse_f32[32] = {0x1p+0f, 0x1.e8p-1f, 0x1.d8p-1f, 0x1.dp-1f, 0x1.cp-1f,
        0x1.b4p-1f, 0x1.a8p-1f, 0x1.ap-1f, 0x1.94p-1f, 0x1.8cp-1f, 0x1.8p-1f, 0x1.78p-1f, 0x1.7p-1f,
        0x1.68p-1f, 0x1.6p-1f, 0x1.58p-1f, 0x1.5p-1f, 0x1.4cp-1f, 0x1.44p-1f, 0x1.4p-1f, 0x1.38p-1f,
        0x1.34p-1f, 0x1.2cp-1f, 0x1.28p-1f, 0x1.2p-1f, 0x1.1cp-1f, 0x1.18p-1f, 0x1.14p-1f, 0x1.1p-1f,
        0x1.0cp-1f, 0x1.08p-1f, 0x1p-1f};
static const float _pm_pow_high_f32[32] = {0.0f, 0x1.1bbp+1f, 0x1.e0bp+1f, 0x1.22dcp+2f, 0x1.8a88p+2f,
        0x1.dac4p+2f, 0x1.169cp+3f, 0x1.32cp+3f, 0x1.5dfep+3f, 0x1.7b8ap+3f, 0x1.a9p+3f, 0x1.c81ap+3f,
        0x1.e7ep+3f, 0x1.042cp+4f, 0x1.14c5p+4f, 0x1.25c1p+4f, 0x1.3722p+4f, 0x1.3ffbp+4f, 0x1.51ffp+4f,
        0x1.5b2cp+4f, 0x1.6dep+4f, 0x1.7768p+4f, 0x1.8ad8p+4f, 0x1.94c3p+4f, 0x1.a9p+4f, 0x1.b354p+4f,
        0x1.bdcfp+4f, 0x1.c86fp+4f, 0x1.d338p+4f, 0x1.de2ap+4f, 0x1.e945p+4f, 0x1p+5f};
static const float _pm_pow_low_f32[32] = {0.0f, 0x1.953002p-14f, 0x1.ae8f3p-15f, -0x1.23d54cp-14f,
        0x1.80abfcp-14f, -0x1.d2c1bcp-14f, 0x1.4d8fc6p-19f, -0x1.1c8f12p-17f, -0x1.8708a8p-16f,
        -0x1.fa61aap-18f, -0x1.a39fbep-15f, -0x1.1e95dp-16f, -0x1.40358ep-14f, -0x1.5a32c2p-15f,
        0x1.83f9a2p-14f, -0x1.7ee71p-14f, 0x1.5db83ap-15f, -0x1.58c588p-15f, 0x1.71810ap-15f, 0x1.ed0cbap-15f,
        -0x1.eac382p-15f, -0x1.f6b4c2p-15f, 0x1.1b3cdap-14f, -0x1.e2db4ep-14f, -0x1.a39fbep-14f,
        0x1.61d876p-14f, -0x1.88cda8p-14f, 0x1.edfa92p-14f, 0x1.20a6dep-16f, -0x1.c4fd14p-14f,
        0x1.645388p-15f, 0.0f};
static const uint32_t _pm_pow_power_f32[32] = {0x3f800000u, 0x3f7ecd87u, 0x3f7daac3u, 0x3f7c980fu,
        0x3f7b95c2u, 0x3f7aa43au, 0x3f79c3d3u, 0x3f78f4f0u, 0x3f7837f0u, 0x3f778d3au, 0x3f76f532u,
        0x3f767043u, 0x3f75fed7u, 0x3f75a15bu, 0x3f75583fu, 0x3f7523f6u, 0x3f7504f3u, 0x3f74fbafu,
        0x3f7508a4u, 0x3f752c4du, 0x3f75672au, 0x3f75b9beu, 0x3f76248cu, 0x3f76a81eu, 0x3f7744fdu,
        0x3f77fbb8u, 0x3f78ccdfu, 0x3f79b907u, 0x3f7ac0c7u, 0x3f7be4bau, 0x3f7d257du, 0x3f7e83b3u};
#endif
