/* Strips of A times a panel of B, in a product by packed blocks. */
#pragma once

#include "products/ahead.h"
#include "products/scheme.h"
#include "products/triangles.h"
#include "products/windows.h"

/* A part of a product: chunks of the depth, those of `left`, from step k_0 on, and strips of A, which lie
   behind each other where they are packed.  carry: what blocks hand to those on their right.  upcoming,
   rows_next, lines_next: what is packed next, where that is requested. */
typedef struct {
    const NAME(product) *all;
    const NAME(scheme) *how;
    const NAME(lines) *left;
    ptrdiff_t k_0, depth, strip_0, strip_1;
    const T *a_packed;
    T *carry;
    NAME(ahead) *upcoming;
    NAME(rows_ahead) *rows_next;
    NAME(lines_ahead) *lines_next;
    const void *end;
} NAME(part);

/* A panel of B: where its segment lies, its first column there, its vectors, and the columns that it has; its
   elements and the step of its depth; whether blocks follow others, and others them, in rows of the result,
   and whether it is the last of its segment; what each block requests.  copied: where the first block copies
   it to, of which `from` is what it copies (NULL: it is packed, or nobody does). */
typedef struct {
    const ptrdiff_t *across;
    ptrdiff_t j, wide, filled;
    const T *elements;
    ptrdiff_t step;
    int follows, goes_on, is_last;
    const char *next;
    ptrdiff_t pace;
    const T *from;
    T *copied;
} NAME(panel);

/* A strip of A: its number, the one within its segment, whose offsets are `down`, the first row there, the
   height, and its elements; what its block requests. */
typedef struct {
    ptrdiff_t number, within;
    const ptrdiff_t *down;
    ptrdiff_t i, height;
    NAME(operand) a;
    const char *next;
    ptrdiff_t pace;
} NAME(strip_now);

#if CONST(WHOLE)
/* A block that goes past the caches; below: where the rows after those of the last strip begin. */
static void NAME(block_past)(const NAME(part) *part, const NAME(panel) *panel, const NAME(strip_now) *strip,
        const NAME(result) *to, const T *below)
{
    const NAME(scheme) *const how = part->how;
    const int joins = how->turn > 0 && panel->is_last, above = to->c == below;
    const int more = strip->number + 1 < part->strip_1
            && (strip->within + 1 < how->strips
                    || strip->down[4] - strip->down[1] == part->all->m * to->c_row);
    NAME(pasts)[panel->wide - 1](part->depth, strip->a.first, panel->elements, part->all->scale, to,
            strip->next, strip->pace,
            joins ? part->carry : part->carry + (strip->number - part->strip_0) * (ROWS * LANES),
            joins ? above : panel->follows, joins ? more : panel->goes_on, joins ? how->turn : 0);
}
#endif

/* A strip times a panel by blocks that stay in the caches. */
static void NAME(block_kept)(const NAME(part) *part, const NAME(panel) *panel, const NAME(strip_now) *strip,
        const NAME(result) *to, T beta)
{
    const NAME(product) *const all = part->all;
    const NAME(scheme) *const how = part->how;
    const NAME(area) area = {strip->i, strip->height, panel->j, panel->filled};
    const ptrdiff_t wide = panel->wide;
    const int last = (int)(panel->filled - (wide - 1) * LANES);
    if (how->cuts && HALVES && all->half.place == 3)
        NAME(cut)(&all->half, &area, part->depth, &strip->a, panel->elements, panel->step, all->scale, beta,
                to);
    else if (how->cuts)
        NAME(sum_half)(&all->half, &area, part->k_0, part->k_0 + part->depth, &strip->a, panel->elements,
                panel->step, all->scale, beta, to, strip->next, strip->pace);
    else if (how->pack_a && how->pack_b && strip->height == ROWS && panel->filled == VECTORS * LANES)
        NAME(full)(part->depth, strip->a.first, panel->elements, all->scale, beta, to, strip->next,
                strip->pace);
    else if (how->pack_a || all->depth_count <= 1 || how->chunks == 0)
        NAME(blocks)[wide - 1][strip->height - 1](part->depth, strip->a.first, strip->a.row, strip->a.step,
                panel->elements, panel->step, all->scale, beta, to, last);
    else {
        const int copies = panel->copied != NULL && strip->number == 0;
        NAME(walk_over)(part->left, wide, strip->height, all->a + strip->down[0] + strip->i * all->a_row,
                all->a_row, copies ? panel->from : panel->elements, copies ? all->b_step : panel->step,
                copies ? panel->copied : NULL, all->scale, beta, to, last);
    }
}

/* What a block requests of what is packed next, where that is requested. */
static inline void NAME(ask_ahead)(const NAME(part) *part, const NAME(panel) *panel, NAME(strip_now) *strip)
{
    if (part->upcoming->calls > 0) {
        strip->next = NAME(request_column)(part->upcoming);
        strip->pace = strip->next == NULL ? 0 : part->all->b_step * (int)sizeof(T);
        strip->next = strip->next == NULL ? (const char *)panel->elements : strip->next;
    }
    if (part->rows_next->each > 0) {
        strip->next = NAME(request_row)(part->rows_next);
        strip->pace = strip->next == NULL ? 0 : part->rows_next->pace;
        strip->next = strip->next == NULL ? (const char *)panel->elements : strip->next;
    }
    if (part->lines_next->pace > 0 && strip->height == ROWS) { /* others request nothing */
        strip->next = NAME(request_line)(part->lines_next);
        strip->pace = strip->next == NULL ? 0 : part->lines_next->pace;
        strip->next = strip->next == NULL ? (const char *)panel->elements : strip->next;
    }
}

/* The place of a block in the result, and what is added: From where the depth begins, else what is there. */
static inline NAME(result)
        NAME(block_at)(const NAME(part) *part, const NAME(panel) *panel, const NAME(strip_now) *strip)
{
    const NAME(product) *const all = part->all;
    T *const target =
            all->c + strip->down[1] + strip->i * all->c_row + panel->across[1] + panel->j + part->how->turn;
    const T *start = target;
    if (part->left->first == 0)
        start = all->from == NULL
                ? NULL
                : all->from + strip->down[2] + strip->i * all->from_row + panel->across[2] + panel->j;
    return NAME(result_of)(start, part->left->first == 0 ? all->from_row : all->c_row, target,
            all->c_row END(part->end));
}

/* The strips of a part times a panel. */
static inline __attribute__((always_inline)) void NAME(strips_by_panel)(const NAME(part) *part,
        const NAME(panel) *panel)
{
    const NAME(product) *const all = part->all;
    const NAME(scheme) *const how = part->how;
    const ptrdiff_t lower = all->m / how->strips,
                    higher = all->m - lower * how->strips; /* one more in some */
    const T beta = part->left->first == 0 ? all->beta : 1;
    NAME(strip_now) now = {part->strip_0, part->strip_0 % how->strips,
            all->rows + part->strip_0 / how->strips * 3, 0, 0, {NULL, 0, 0}, panel->next, panel->pace};
#if CONST(WHOLE)
    const T *below = NULL;
#endif
    for (; now.number < part->strip_1; now.number++) {
        now.i = now.within * lower + (now.within < higher ? now.within : higher);
        now.height = lower + (now.within < higher);
        now.a.row = how->pack_a ? 1 : all->a_row;
        now.a.step = how->pack_a ? now.height : all->a_step;
        now.a.first = how->pack_a ? part->a_packed + (now.number - part->strip_0) * part->left->apart
                                  : all->a + now.down[0] + now.i * all->a_row + part->k_0 * all->a_step;
        NAME(ask_ahead)(part, panel, &now);
        const NAME(result) to = NAME(block_at)(part, panel, &now);
#if CONST(WHOLE)
        if (!how->cuts && how->past && now.height == ROWS && panel->filled == panel->wide * LANES) {
            NAME(block_past)(part, panel, &now, &to, below);
            below = to.c + ROWS * all->c_row;
        } else
#endif
            NAME(block_kept)(part, panel, &now, &to, beta);
        now.next += now.pace * part->depth;
        if (++now.within == how->strips) {
            now.within = 0;
            now.down += 3;
        }
    }
}
