"""The tables of powers: of each cell of numbers near 1 + i / N a short 1 / c, and log(c) as two numbers.

float: in units of log(2) / 32, the first a multiple of 2**-12; double: of 1, the first a multiple of 2**-42.
And the bits of 2**(j / N), less j where the bits of the exponent begin, as they are when j is added there.
The cell around 1 has c = 1, so that logarithms of numbers near 1 are as exact as others.
"""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE

_SINGLE = """\
static const $T _pm_pow_inverse_$S[$N] = {
    0x1p+0f, 0x1.fp-1f, 0x1.ep-1f, 0x1.d4p-1f, 0x1.c8p-1f, 0x1.b8p-1f, 0x1.bp-1f, 0x1.a4p-1f,
    0x1.98p-1f, 0x1.9p-1f, 0x1.88p-1f, 0x1.7cp-1f, 0x1.74p-1f, 0x1.6cp-1f, 0x1.64p-1f, 0x1.5cp-1f,
    0x1.54p-1f, 0x1.5p-1f, 0x1.48p-1f, 0x1.4p-1f, 0x1.3cp-1f, 0x1.34p-1f, 0x1.3p-1f, 0x1.28p-1f,
    0x1.24p-1f, 0x1.2p-1f, 0x1.1cp-1f, 0x1.14p-1f, 0x1.1p-1f, 0x1.0cp-1f, 0x1.08p-1f, 0x1.04p-1f
};
static const $T _pm_pow_high_$S[$N] = {
    0.0f, 0x1.774p+0f, 0x1.7d6p+1f, 0x1.098p+2f, 0x1.563cp+2f, 0x1.bfc8p+2f, 0x1.f5fcp+2f,
    0x1.249cp+3f, 0x1.4f7p+3f, 0x1.6cbp+3f, 0x1.8a8ap+3f, 0x1.b878p+3f, 0x1.d7e6p+3f, 0x1.f804p+3f,
    0x1.0c6dp+4f, 0x1.1d37p+4f, 0x1.2e64p+4f, 0x1.3722p+4f, 0x1.48efp+4f, 0x1.5b2cp+4f,
    0x1.6477p+4f, 0x1.7768p+4f, 0x1.811p+4f, 0x1.94c3p+4f, 0x1.9ecfp+4f, 0x1.a9p+4f, 0x1.b354p+4f,
    0x1.c86fp+4f, 0x1.d338p+4f, 0x1.de2ap+4f, 0x1.e945p+4f, 0x1.f48cp+4f
};
static const $T _pm_pow_low_$S[$N] = {
    0.0f, -0x1.acd89ap-14f, 0x1.25b3eep-17f, -0x1.c731ap-14f, 0x1.c29ffap-14f, -0x1.858p-14f,
    0x1.8a9064p-14f, 0x1.a5627ap-14f, -0x1.134c4ep-15f, 0x1.ed0cbap-14f, -0x1.fd501p-15f,
    -0x1.d42728p-16f, 0x1.815786p-14f, 0x1.5d1a1ap-14f, -0x1.543ceap-14f, -0x1.f5a52cp-14f,
    0x1.3eb014p-14f, 0x1.5db83ap-15f, -0x1.cd9d0cp-17f, 0x1.ed0cbap-15f, -0x1.33a934p-15f,
    -0x1.f6b4c2p-15f, -0x1.6b9026p-14f, -0x1.e2db4ep-14f, 0x1.42fd1p-14f, -0x1.a39fbep-14f,
    0x1.61d876p-14f, 0x1.edfa92p-14f, 0x1.20a6dep-16f, -0x1.c4fd14p-14f, 0x1.645388p-15f,
    0x1.a5e8f4p-15f
};
static const $U _pm_pow_power_$S[$N] = {
    0x3f800000u, 0x3f7ecd87u, 0x3f7daac3u, 0x3f7c980fu, 0x3f7b95c2u, 0x3f7aa43au, 0x3f79c3d3u,
    0x3f78f4f0u, 0x3f7837f0u, 0x3f778d3au, 0x3f76f532u, 0x3f767043u, 0x3f75fed7u, 0x3f75a15bu,
    0x3f75583fu, 0x3f7523f6u, 0x3f7504f3u, 0x3f74fbafu, 0x3f7508a4u, 0x3f752c4du, 0x3f75672au,
    0x3f75b9beu, 0x3f76248cu, 0x3f76a81eu, 0x3f7744fdu, 0x3f77fbb8u, 0x3f78ccdfu, 0x3f79b907u,
    0x3f7ac0c7u, 0x3f7be4bau, 0x3f7d257du, 0x3f7e83b3u
};
"""
_WIDE = """\
static const $T _pm_pow_inverse_$S[$N] = {
    0x1p+0, 0x1.ep-1, 0x1.c8p-1, 0x1.bp-1, 0x1.98p-1, 0x1.88p-1, 0x1.7p-1, 0x1.6p-1, 0x1.58p-1,
    0x1.48p-1, 0x1.38p-1, 0x1.3p-1, 0x1.28p-1, 0x1.18p-1, 0x1.1p-1, 0x1.08p-1
};
static const $T _pm_pow_high_$S[$N] = {
    0.0, 0x1.08598b59e4p-4, 0x1.da72763844p-4, 0x1.5bf406b544p-3, 0x1.d1037f2656p-3,
    0x1.1178e8227ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2, 0x1.973a343135p-2, 0x1.c7ff9c7455p-2,
    0x1.fb358af7a5p-2, 0x1.0ae76e2d058p-1, 0x1.188ee40f24p-1, 0x1.35028ad9d9p-1, 0x1.43d9ff2f92p-1,
    0x1.5322e268678p-1
};
static const $T _pm_pow_low_$S[$N] = {
    0.0, -0x1.7e5dd7009902cp-46, 0x1.a89401fa71733p-46, -0x1.27023eb68981cp-46,
    -0x1.84a7e75b6f6e4p-47, 0x1.1ef78ce2d07f2p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44,
    0x1.ab73b16bf4984p-44, 0x1.324911f56db29p-44, -0x1.def40b87d36d9p-44, -0x1.82de51de06076p-44,
    -0x1.accec41d52e6cp-44, -0x1.bd1f01ab60655p-44, 0x1.e267b0b7efae1p-44, 0x1.5ccc45d257531p-47
};
static const $U _pm_pow_power_$S[$N] = {
    0x3ff0000000000000u, 0x3fefb5586cf9890fu, 0x3fef72b83c7d517bu, 0x3fef387a6e756238u,
    0x3fef06fe0a31b715u, 0x3feedea64c123422u, 0x3feebfdad5362a27u, 0x3feeab07dd485429u,
    0x3feea09e667f3bcdu, 0x3feea11473eb0187u, 0x3feeace5422aa0dbu, 0x3feec49182a3f090u,
    0x3feee89f995ad3adu, 0x3fef199bdd85529cu, 0x3fef5818dcfba487u, 0x3fefa4afa2a490dau
};
"""
TABLES = {SINGLE: _SINGLE, WIDE: _WIDE}
