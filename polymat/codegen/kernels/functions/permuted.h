/* Whether tables lie in two vectors of 512 bits, which one instruction permutes.  Other compilers, and
   processors without such vectors, compute by longer polynomials. */
#pragma once

#if defined(__x86_64__) && !defined(__clang__) && defined(__AVX512F__) && defined(__AVX512DQ__)
#ifdef __has_builtin
#if __has_builtin(__builtin_ia32_getexppd512_mask) && __has_builtin(__builtin_ia32_getmantps512_mask) \
        && __has_builtin(__builtin_ia32_fpclasspd512_mask) && __has_builtin(__builtin_ia32_cmppd512_mask)
#define _PM_PERMUTED
#endif
#endif
#endif
