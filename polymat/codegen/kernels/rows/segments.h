/* Arrays as rows of a point of each of some segments: lane s of row k is point k of segment s.

   The segments are a ring, which begins with the element `begin` and ends with those before it: a segment goes
   on with the next one, and the last with the first.

   takes T                            the type of an element
   takes NAME(name)                   functions and types of that type
   takes LANES=4|8|16                 elements of a vector, and segments
   takes INTEGER=int / long long    as large as an element
   takes PLACES=0                     the places of the lanes
   takes ONWARDS(all)=all             each lane of the segment behind it
   takes BACK(all)=all                each lane of the segment before it
*/
#pragma once

#include <stddef.h>
#include "rows/vectors.h"

/* Lay an array out so; what lies between its end and the elements before `begin` is 0. */
static inline void NAME(segments_in)(T *rows, const T *from, ptrdiff_t extent, ptrdiff_t begin,
        ptrdiff_t count)
{
    for (ptrdiff_t lane = 0; lane < LANES; lane++) {
        const ptrdiff_t first = begin + lane * count, left = extent - first;
        const ptrdiff_t whole = left < count ? (left > 0 ? left : 0) : count;
        for (ptrdiff_t row = 0; row < whole; row++)
            rows[row * LANES + lane] = from[first + row];
        for (ptrdiff_t row = whole; row < count; row++) {
            const ptrdiff_t before = first + row - LANES * count;
            rows[row * LANES + lane] = before >= 0 ? from[before] : 0;
        }
    }
}

/* Write the elements back that lie behind `begin`. */
static inline void NAME(segments_out)(T *to, const T *rows, ptrdiff_t extent, ptrdiff_t begin,
        ptrdiff_t count)
{
    for (ptrdiff_t lane = 0; lane < LANES; lane++) {
        const ptrdiff_t first = begin + lane * count, left = extent - first;
        for (ptrdiff_t row = 0; row < (left < count ? left : count); row++)
            to[first + row] = rows[row * LANES + lane];
    }
}

/* Let each segment go on with the first rows of the next one, behind its last row. */
static inline void NAME(segments_onwards)(T *rows, ptrdiff_t count, ptrdiff_t more)
{
    for (ptrdiff_t row = 0; row < more; row++) {
        const NAME(row) all = NAME(row_load)(&rows[row * LANES]);
        NAME(row_store)(&rows[(count + row) * LANES], ONWARDS(all));
    }
}

/* Bring rows that were computed behind the last one of each segment to where the next one begins. */
static inline void NAME(segments_back)(T *rows, ptrdiff_t count, ptrdiff_t more)
{
    for (ptrdiff_t row = 0; row < more; row++) {
        const NAME(row) all = NAME(row_load)(&rows[(count + row) * LANES]);
        NAME(row_store)(&rows[row * LANES], BACK(all));
    }
}

/* The value of a row, but of the last segment the one that is there, in the rows from one to another. */
static inline __attribute__((always_inline)) NAME(row)
        NAME(segments_kept)(NAME(row) value, const T *rows, ptrdiff_t row, ptrdiff_t from, ptrdiff_t end)
{
    const NAME(row_places) last = (NAME(row_places)){PLACES} == LANES - 1;
    if (row < from || row >= end)
        return value;
    const NAME(row_places) there = (NAME(row_places))NAME(row_load)(&rows[row * LANES]);
    return (NAME(row))((there & last) | ((NAME(row_places))value & ~last));
}
