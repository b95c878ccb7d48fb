/* All register blocks that are timed.

   takes PRODUCTS=NULL  the functions that time them
*/
#pragma once

#include <stddef.h>

static double (*const products[])(char *, ptrdiff_t) = {PRODUCTS};

/* Seconds of so many products by the block of that number. */
double pm_block(int number, char *memory, ptrdiff_t repeats)
{
    return products[number](memory, repeats);
}
