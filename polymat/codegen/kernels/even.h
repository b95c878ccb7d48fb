/* Choices that processors guess wrong. */
#pragma once

/* A condition that holds as often as not, so that a compiler makes no branch of a choice by it. */
#if __GNUC__ >= 9 || __clang_major__ >= 11
#define _PM_EVEN(condition) __builtin_expect_with_probability(condition, 1, 0.5)
#else
#define _PM_EVEN(condition) (condition)
#endif
