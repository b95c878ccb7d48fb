/* What is done of one row, or of eight.

   Written out, since sums in an array are kept in registers where a compiler knows their places before it looks
   for loops. */
#pragma once

#define EACH_OF_EIGHT(rows, does) \
    does(0); \
    if ((rows) > 1) { \
        does(1); \
        does(2); \
        does(3); \
        does(4); \
        does(5); \
        does(6); \
        does(7); \
    }
