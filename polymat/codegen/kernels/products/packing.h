/* Copies of operands of products in the order in which register blocks use them.

   Strips of rows and panels of columns, of any strides and of several segments.  A tensor may be contiguous
   along its lines, along its depth, or along a dimension that only tells its segments of either apart: it is
   read in the order of memory in each of these cases. */
#pragma once

#include "products/pieces.h"
#include "products/transposed.h"

/* How many offsets of a table follow each other without a gap, from one of them on. */
static ptrdiff_t NAME(neighbours)(const ptrdiff_t *table, ptrdiff_t width, ptrdiff_t first, ptrdiff_t last)
{
    ptrdiff_t next = first + 1;
    while (next < last && table[width * next] == table[width * (next - 1)] + 1)
        next++;
    return next - first;
}

/* How the depth is cut: `count` segments of `k` steps, each in `pieces`; equal pieces of `group` segments
   follow each other, so that segments which are neighbours in memory are packed together. */
typedef struct {
    ptrdiff_t count, k, pieces, group;
} NAME(depth);

/* A piece of a segment: where it begins in that, and its length. */
typedef struct {
    ptrdiff_t segment, begin, length;
} NAME(chunk);

static inline NAME(chunk) NAME(chunk_of)(const NAME(depth) *cut, ptrdiff_t chunk)
{
    const ptrdiff_t group = chunk / (cut->pieces * cut->group), first = group * cut->group;
    const ptrdiff_t size = cut->count - first < cut->group ? cut->count - first : cut->group;
    const ptrdiff_t rest = chunk - first * cut->pieces, piece = rest / size;
    const NAME(chunk) found = {first + rest % size, NAME(before)(cut->k, cut->pieces, piece),
            NAME(piece)(cut->k, cut->pieces, piece)};
    return found;
}

/* Pack a strip of A or a panel of B: chunks first..last - 1 of the depth; at: where its segments lie. */
static void NAME(pack)(ptrdiff_t first, ptrdiff_t last, const NAME(depth) *cut, const ptrdiff_t *at,
        ptrdiff_t width, const T *from, ptrdiff_t across, ptrdiff_t along, T *to, ptrdiff_t step)
{
    for (ptrdiff_t chunk = first; chunk < last;) {
        const NAME(chunk) now = NAME(chunk_of)(cut, chunk);
        const T *const begin = from + at[2 * now.segment] + now.begin * along;
        ptrdiff_t run = 1;
        if (across != 1 && along != 1 && cut->group > 1) {
            const ptrdiff_t left = cut->group - now.segment % cut->group;
            const ptrdiff_t here = last - chunk < left ? last - chunk : left;
            run = NAME(neighbours)(at, 2, now.segment,
                    now.segment + here < cut->count ? now.segment + here : cut->count);
        }
        if (run >= 8)
            for (ptrdiff_t i = 0; i < now.length; i++)
                NAME(run)(run, width, begin + i * along, across, along, to + i * step, now.length * step);
        else {
            const NAME(chunk) soon = NAME(chunk_of)(cut, chunk + run < last ? chunk + run : first);
            const ptrdiff_t further = at[2 * soon.segment] - at[2 * now.segment]
                    + (soon.begin - now.begin) * along + (chunk + run < last ? 0 : width * across);
            /* Of short pieces the same place of the next one, or of the next lines. */
            const ptrdiff_t ahead = along == 1 && now.length <= 4 * CONST(FAR) ? further : CONST(FAR);
            for (ptrdiff_t one = 0; one < run; one++)
                NAME(strip)(width, now.length, begin + one, across, along, to + one * now.length * step, step,
                        ahead);
        }
        to += run * now.length * step;
        chunk += run;
    }
}

/* How far apart packed strips of so many lines are: an odd number of lines of cache, so that what is written
   side by side into a row of them, where segments are gathered, does not share a few sets of the caches. */
static inline ptrdiff_t NAME(apart)(ptrdiff_t room, ptrdiff_t depth)
{
    enum { line = 64 / sizeof(T) };
    return ((room * depth + line - 1) / line | 1) * line;
}

/* How an operand is cut: each segment has `count` lines, in `each` strips or panels of whole units of `unit`
   lines; chunks first..last - 1 are packed, each strip with room for `room` lines, `apart` elements apart. */
typedef struct {
    ptrdiff_t count, each, unit, room, first, last, apart;
    const NAME(depth) *cut;
    const ptrdiff_t *at;
} NAME(lines);

static inline ptrdiff_t NAME(line)(const NAME(lines) *lines, ptrdiff_t strip)
{
    return NAME(before)((lines->count + lines->unit - 1) / lines->unit, lines->each, strip) * lines->unit;
}

/* How many elements a strip has of each depth. */
static inline ptrdiff_t NAME(width)(const NAME(lines) *lines, ptrdiff_t strip)
{
    return NAME(piece)((lines->count + lines->unit - 1) / lines->unit, lines->each, strip) * lines->unit;
}

/* And how many of them the operand has. */
static inline ptrdiff_t NAME(filled)(const NAME(lines) *lines, ptrdiff_t strip)
{
    const ptrdiff_t left = lines->count - NAME(line)(lines, strip), width = NAME(width)(lines, strip);
    return left < width ? left : width;
}

enum { CONST(TOGETHER) = 32 };

/* Copy some neighbours: those of a whole panel as so many vectors. */
static inline void NAME(copy_line)(ptrdiff_t count, const T *from, T *to)
{
    if (count == VECTORS * LANES) {
        UNROLL(VECTORS)
        for (int vector = 0; vector < VECTORS; vector++)
            ((NAME(memory) *)to)[vector] = ((const NAME(memory) *)from)[vector];
        return;
    }
    ptrdiff_t r = 0;
    for (; r + LANES <= count; r += LANES)
        *(NAME(memory) *)(to + r) = *(const NAME(memory) *)(from + r);
    for (; r < count; r++)
        to[r] = from[r];
}

/* At most so many strips begin..end - 1 whose lines are neighbours, all of them at each depth. */
static void NAME(pack_lines)(const NAME(lines) *lines, ptrdiff_t begin, ptrdiff_t end,
        const ptrdiff_t *offsets, const T *from, ptrdiff_t along, T *to)
{
    const ptrdiff_t ahead = 2 + 48 / (end - begin); /* lines of depth between request and copy */
    ptrdiff_t line[CONST(TOGETHER)], width[CONST(TOGETHER)], filled[CONST(TOGETHER)], done = 0;
    for (ptrdiff_t strip = begin; strip < end; strip++) {
        const ptrdiff_t within = strip % lines->each;
        line[strip - begin] = offsets[3 * (strip / lines->each)] + NAME(line)(lines, within);
        width[strip - begin] = NAME(width)(lines, within);
        filled[strip - begin] = NAME(filled)(lines, within);
    }
    for (ptrdiff_t chunk = lines->first; chunk < lines->last; chunk++) {
        const NAME(chunk) now = NAME(chunk_of)(lines->cut, chunk);
        const T *source = from + lines->at[2 * now.segment] + now.begin * along;
        for (ptrdiff_t i = 0; i < now.length; i++, done++, source += along) {
            const ptrdiff_t soon = i + ahead < now.length || chunk + 1 < lines->last ? ahead * along : 0;
            for (ptrdiff_t s = 0; s < end - begin; s++) {
                for (ptrdiff_t r = 0; r < filled[s]; r += 64 / (int)sizeof(T))
                    __builtin_prefetch(source + line[s] + r + soon);
                __builtin_prefetch(source + line[s] + filled[s] - 1 + soon); /* rows begin within lines */
                NAME(copy_line)(filled[s], source + line[s], to + s * lines->apart + done * width[s]);
            }
        }
    }
}

/* The strip after those that are packed together with `strip`: of the same segment, and of further ones that
   lie nearer to each other than one step of the depth. */
static ptrdiff_t NAME(beside)(ptrdiff_t strip, ptrdiff_t end, ptrdiff_t each, const ptrdiff_t *offsets,
        ptrdiff_t along)
{
    const ptrdiff_t most = strip + CONST(TOGETHER) < end ? strip + CONST(TOGETHER) : end;
    ptrdiff_t segment = strip / each, far = along < 0 ? -along : along;
    while ((segment + 1) * each < most) {
        const ptrdiff_t apart = offsets[3 * (segment + 1)] - offsets[3 * segment];
        if (apart >= far || -apart >= far)
            break;
        segment++;
    }
    return (segment + 1) * each < most ? (segment + 1) * each : most;
}

/* That strip of a number of segments, whose elements are neighbours of those of the next segment: eight lines
   with all their depth after each other where steps of the depth are shorter than those from line to line. */
static void NAME(pack_segments)(const NAME(lines) *lines, ptrdiff_t run, ptrdiff_t strip, const T *from,
        ptrdiff_t across, ptrdiff_t along, T *to)
{
    const ptrdiff_t width = NAME(width)(lines, strip), filled = NAME(filled)(lines, strip);
    const ptrdiff_t apart = lines->each * lines->apart;
    const ptrdiff_t together = along < across && filled > 8 && run >= 8 ? 8 : filled;
    from += NAME(line)(lines, strip) * across;
    for (ptrdiff_t r = 0; r < filled; r += together) {
        const ptrdiff_t line = r + together < filled ? r : filled - together;
        T *target = to + line;
        for (ptrdiff_t chunk = lines->first; chunk < lines->last; chunk++) {
            const NAME(chunk) now = NAME(chunk_of)(lines->cut, chunk);
            const T *source = from + lines->at[2 * now.segment] + now.begin * along + line * across;
            for (ptrdiff_t i = 0; i < now.length; i++, source += along, target += width)
                NAME(run)(run, together, source, across, along, target, apart);
        }
    }
}

/* Strips begin..end - 1 of an operand; offsets: where its segments lie, one of three in a row. */
static void NAME(pack_all)(const NAME(lines) *lines, ptrdiff_t begin, ptrdiff_t end, const ptrdiff_t *offsets,
        const T *from, ptrdiff_t across, ptrdiff_t along, T *to)
{
    const ptrdiff_t each = lines->each, size = lines->apart;
    if (across == 1) {
        for (ptrdiff_t strip = begin, next; strip < end; strip = next) {
            next = NAME(beside)(strip, end, each, offsets, along);
            NAME(pack_lines)(lines, strip, next, offsets, from, along, to + (strip - begin) * size);
        }
        return;
    }
    for (ptrdiff_t within = 0; within < each; within++) {
        const ptrdiff_t last = end / each + (within < end % each);
        ptrdiff_t segment = begin / each + (within < begin % each);
        while (segment < last) {
            ptrdiff_t run = along == 1 ? 1 : NAME(neighbours)(offsets, 3, segment, last);
            const T *const source = from + offsets[3 * segment];
            T *const target = to + (segment * each + within - begin) * size;
            if (run >= 8)
                NAME(pack_segments)(lines, run, within, source, across, along, target);
            else {
                run = 1;
                NAME(pack)(lines->first, lines->last, lines->cut, lines->at, NAME(filled)(lines, within),
                        source + NAME(line)(lines, within) * across, across, along, target,
                        NAME(width)(lines, within));
            }
            segment += run;
        }
    }
}
