/* Asks whether the processor has the instructions that a library was compiled with. */
#pragma once

#include "shared.h"

/* Whether it has them, noted in `known`: 1 it has, 2 it lacks some.  The question itself is compiled for any
   processor of the kind. */
#if defined __x86_64__ && defined __GNUC__
_PM_SHARED __attribute__((noinline, cold, target("arch=x86-64"))) int _pm_processor_asked(int *known)
{
    int has = 1;
    __builtin_cpu_init();
#ifdef __SSE4_2__
    has &= __builtin_cpu_supports("sse4.2") != 0;
#endif
#ifdef __POPCNT__
    has &= __builtin_cpu_supports("popcnt") != 0;
#endif
#ifdef __AVX__
    has &= __builtin_cpu_supports("avx") != 0;
#endif
#ifdef __AVX2__
    has &= __builtin_cpu_supports("avx2") != 0;
#endif
#ifdef __FMA__
    has &= __builtin_cpu_supports("fma") != 0;
#endif
#ifdef __BMI__
    has &= __builtin_cpu_supports("bmi") != 0;
#endif
#ifdef __BMI2__
    has &= __builtin_cpu_supports("bmi2") != 0;
#endif
#ifdef __AVX512F__
    has &= __builtin_cpu_supports("avx512f") != 0;
#endif
#ifdef __AVX512CD__
    has &= __builtin_cpu_supports("avx512cd") != 0;
#endif
#ifdef __AVX512DQ__
    has &= __builtin_cpu_supports("avx512dq") != 0;
#endif
#ifdef __AVX512BW__
    has &= __builtin_cpu_supports("avx512bw") != 0;
#endif
#ifdef __AVX512VL__
    has &= __builtin_cpu_supports("avx512vl") != 0;
#endif
#ifdef __AVX512VBMI__
    has &= __builtin_cpu_supports("avx512vbmi") != 0;
#endif
#ifdef __AVX512VBMI2__
    has &= __builtin_cpu_supports("avx512vbmi2") != 0;
#endif
#ifdef __AVX512VNNI__
    has &= __builtin_cpu_supports("avx512vnni") != 0;
#endif
#ifdef __AVX512BITALG__
    has &= __builtin_cpu_supports("avx512bitalg") != 0;
#endif
#ifdef __AVX512VPOPCNTDQ__
    has &= __builtin_cpu_supports("avx512vpopcntdq") != 0;
#endif
    __atomic_store_n(known, 2 - has, __ATOMIC_RELAXED);
    return has;
}
#else
_PM_SHARED int _pm_processor_asked(int *known)
{
    (void)known;
    return 1;
}
#endif
