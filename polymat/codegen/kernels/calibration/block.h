/* A register block of products, timed: small products of packed operands.

   Of the left operand strips of ROWS rows follow each other, of the right one panels of WIDE columns.  The result
   is scaled by 0, so that no product grows where it is an operand of the next one.

   takes T                     the type of an element
   takes NAME(name)            functions and types of that type
   takes TIMER=product_made    the name of the function
   takes BLOCK(depth, a, b, a_step, b_step, part, next, turn)=((void)(a), (void)(b), (void)(part), (void)(next))  the register block
   takes ROWS=6                of a register block
   takes WIDE=8                columns of one
   takes STRIPS=16             of the left operand
   takes PANELS=12             of the right one
   takes DEPTH=256             of the product
*/
#pragma once

#include <stddef.h>
#include "products/operands.h"
#include "calibration/clock.h"

static double TIMER(char *memory, ptrdiff_t repeats)
{
    T *const a = (T *)(void *)memory, *const b = a + STRIPS * ROWS * DEPTH;
    T *const c = b + PANELS * WIDE * DEPTH;
    const double begin = now();
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        for (int panel = 0; panel < PANELS; panel++)
            for (int strip = 0; strip < STRIPS; strip++) {
                const NAME(result) part = {.from = NULL,
                        .from_row = 0,
                        .c = c + (strip * ROWS * PANELS + panel) * WIDE,
                        .c_row = PANELS * WIDE};
                BLOCK(DEPTH, a + strip * ROWS * DEPTH, b + panel * WIDE * DEPTH, 0, 0, &part, memory, 0);
            }
    return now() - begin;
}
