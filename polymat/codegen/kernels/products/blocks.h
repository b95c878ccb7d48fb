/* What is generated for a family of register blocks, declared: for headers that are compiled alone. */
#pragma once

#include "products/choices.h"
#include "products/operands.h"
#include "products/requests.h"
#include "products/ways.h"

#define _PM_SHARED

typedef T NAME(vector) __attribute__((vector_size(LANES * sizeof(T))));
typedef NAME(vector) NAME(memory) __attribute__((aligned(sizeof(T)), may_alias));
typedef int NAME(mask);
NAME(vector) NAME(load)(const T *from, NAME(mask) mask);
void NAME(store)(T *to, NAME(vector) value, NAME(mask) mask);
void NAME(row_sums)(NAME(vector) a, NAME(vector) b, NAME(vector) c, NAME(vector) d, T *to);

#if LANES == 8 && defined(__AVX512F__) && !defined(__clang__)
#define _PM_WHOLE_of 1 /* whether there are stores of whole vectors past the caches */
#define _PM_TURNS_of 1 /* and turned blocks */
#else
#define _PM_WHOLE_of 0
#endif

typedef void (*NAME(block))(ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_step, const T *b,
        ptrdiff_t b_step, T scale, T beta, const NAME(result) *to, int last);
typedef void (*NAME(walk))(ptrdiff_t segments, const ptrdiff_t *at, ptrdiff_t depth, const T *a,
        ptrdiff_t a_row, const T *b, ptrdiff_t b_step, T scale, T beta, const NAME(result) *to, int last);
typedef void (*NAME(copying))(ptrdiff_t segments, const ptrdiff_t *at, ptrdiff_t depth, const T *a,
        ptrdiff_t a_row, const T *b, ptrdiff_t b_step, T *copied, T scale, T beta, const NAME(result) *to,
        int last);
typedef void (*NAME(edge))(const T *a, ptrdiff_t a_row, ptrdiff_t a_step, const T *b, ptrdiff_t b_step,
        T scale, T *c, ptrdiff_t c_row, int last);
typedef void (*NAME(pass))(ptrdiff_t depth, const T *a, ptrdiff_t a_row, const T *b, T scale, T beta,
        const NAME(result) *to, const char *next, ptrdiff_t pace);
typedef void (*NAME(along))(ptrdiff_t depth, const T *a, ptrdiff_t a_row, const T *b, T scale, T beta,
        const NAME(result) *to, const char *next, ptrdiff_t pace);
typedef void (*NAME(reader))(ptrdiff_t depth, const T *a, ptrdiff_t a_step, const T *b, ptrdiff_t b_step,
        T scale, T beta, const NAME(result) *to, const NAME(requests) *asked);

extern const NAME(block) NAME(blocks)[VECTORS][ROWS];
extern const NAME(walk) NAME(walks)[VECTORS][ROWS];
extern const NAME(copying) NAME(copyings)[VECTORS][ROWS];
extern const NAME(edge) NAME(edges)[2][VECTORS];
typedef void (*NAME(past))(ptrdiff_t depth, const T *a, const T *b, T scale, const NAME(result) *to,
        const char *next, ptrdiff_t pace, T *carry, int follows, int goes_on, int rotated);
extern const NAME(past) NAME(pasts)[VECTORS];
extern const NAME(pass) NAME(passing)[VECTORS];
extern const NAME(along) NAME(strips)[VECTORS];
extern const NAME(reader) NAME(readings)[VECTORS];
void NAME(full)(ptrdiff_t depth, const T *a, const T *b, T scale, T beta, const NAME(result) *to,
        const char *next, ptrdiff_t pace);

/* What chooses among products. */
int _pm_way(const _pm_asked *asked);
