"""Copies of operands of matrix products in the order in which register blocks use them.

`PACKING` gives the C functions that the product of `polymat.codegen.products.gemm` uses for it: strips of
rows and panels of columns, of any strides and of several segments.  A tensor may be contiguous along its
lines, along its depth, or along a dimension that only tells its segments of either apart: it is read in the
order of memory in each of these cases, eight lines of eight elements at a time, transposed in registers.
"""

from __future__ import annotations

from polymat.codegen.c.lanes import SHUFFLES

PIECES = """\
/* `count` cut into `pieces` that differ by one at most: the size of the one after `done` of them. */
static inline ptrdiff_t _pm_piece_$S(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    return pieces == 1 ? count : count / pieces + (done < count % pieces);
}

/* Where that piece begins. */
static inline ptrdiff_t _pm_before_$S(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    const ptrdiff_t longer = pieces == 1 ? 0 : count % pieces;
    return pieces == 1 ? 0 : done * (count / pieces) + (done < longer ? done : longer);
}

/* Ask for one of some equal parts of the depth of a strip or panel that will be packed soon. */
static inline void _pm_request_$S(const $T *from, ptrdiff_t across, ptrdiff_t along, ptrdiff_t width,
        ptrdiff_t depth, ptrdiff_t part, ptrdiff_t parts)
{
    enum { line = 64 / sizeof($T) };
    const ptrdiff_t first = depth * part / parts, last = depth * (part + 1) / parts;
    if (across == 1)
        for (ptrdiff_t k = first; k < last; k++) {
            for (ptrdiff_t r = 0; r < width; r += line)
                __builtin_prefetch(from + k * along + r, 0, 2);
            __builtin_prefetch(from + k * along + width - 1, 0, 2);
        }
    else if (along == 1)
        for (ptrdiff_t r = 0; r < width; r++)
            for (ptrdiff_t k = first; k < last; k += line)
                __builtin_prefetch(from + r * across + k, 0, 2);
}

"""
_TEXT = """\
/* The largest of the fewest pieces of nearly equal size, each `most` at most, that `count` is cut into; of
   nothing 1. */
static inline ptrdiff_t _pm_share_$S(ptrdiff_t count, ptrdiff_t most)
{
    const ptrdiff_t pieces = (count + most - 1) / most;
    return pieces <= 1 ? (count > 1 ? count : 1) : (count + pieces - 1) / pieces;
}

/* Eight lines of eight elements, transposed in registers; of fewer lines the last one stands for the rest. */
typedef $T _pm_eight_$S __attribute__((vector_size(8 * sizeof($T))));
typedef _pm_eight_$S _pm_eight_memory_$S __attribute__((aligned(sizeof($T)), may_alias));

static inline void _pm_transpose_$S(ptrdiff_t lines, const $T *from, ptrdiff_t across, $T *to, ptrdiff_t step)
{
#ifdef _PM_SHUFFLES
    _pm_eight_$S r[8], s[8];
    for (int line = 0; line < 8; line++)
        r[line] = *(const _pm_eight_memory_$S *)(from + (line < lines ? line : lines - 1) * across);
    for (int line = 0; line < 8; line += 2) {
        s[line] = __builtin_shufflevector(r[line], r[line + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[line + 1] = __builtin_shufflevector(r[line], r[line + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 4 /* or the lines go through memory */
    for (int pair = 0; pair < 4; pair++) {
        const int line = pair / 2 * 4 + pair % 2;
        r[line] = __builtin_shufflevector(s[line], s[line + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[line + 2] = __builtin_shufflevector(s[line], s[line + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int line = 0; line < 4; line++) {
        s[line] = __builtin_shufflevector(r[line], r[line + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        s[line + 4] = __builtin_shufflevector(r[line], r[line + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int line = 0; line < 8; line++)
        *(_pm_eight_memory_$S *)(to + line * step) = s[line];
#else
    for (int line = 0; line < 8; line++)
        for (int lane = 0; lane < 8; lane++)
            to[lane * step + line] = from[(line < lines ? line : lines - 1) * across + lane];
#endif
}

enum { _PM_FAR_$S = 512 / sizeof($T) }; /* elements between request and copy along a line */

/* Copy a strip of `width` lines of `depth` elements so that the elements of equal depth are neighbours; what
   lies `ahead` elements further on, if that is not 0, is requested where lines are contiguous. */
static void _pm_strip_$S(ptrdiff_t width, ptrdiff_t depth, const $T *restrict from, ptrdiff_t across,
        ptrdiff_t along, $T *restrict to, ptrdiff_t step, ptrdiff_t ahead)
{
    enum { deep = 16 };
    if (across == 1) {
        const ptrdiff_t whole = width / $L * $L;
        for (ptrdiff_t k = 0; k < depth; k++) {
            for (ptrdiff_t r = 0; r < whole; r += $L)
                *(_pm_memory_$S *)(to + k * step + r) = *(const _pm_memory_$S *)(from + k * along + r);
            for (ptrdiff_t r = whole; r < width; r++)
                to[k * step + r] = from[k * along + r];
        }
        return;
    }
    if (along == 1 && width >= 8 && depth >= 8) {
        /* The last eight lines, and the last eight of their elements, may be copied twice. */
        for (ptrdiff_t r = 0; r < width; r += 8)
            for (ptrdiff_t k = 0; k < depth; k += 8) {
                const ptrdiff_t line = r + 8 < width ? r : width - 8, at = k + 8 < depth ? k : depth - 8;
                const $T *const corner = from + line * across + at;
                for (int other = 0; other < 8 && ahead != 0; other++)
                    __builtin_prefetch(corner + other * across + ahead);
                _pm_transpose_$S(8, corner, across, to + at * step + line, step);
            }
        return;
    }
    ptrdiff_t done = 0;
    if (along == 1 && width >= 4 && width < 8 && step >= 4)
        /* What a line has too much is in the place of the next one, which comes after it. */
        for (; done + 8 < depth; done += 8)
            _pm_transpose_$S(width, from + done, across, to + done * step, step);
    for (ptrdiff_t k_0 = done; k_0 < depth; k_0 += deep) {
        const ptrdiff_t k_1 = k_0 + deep < depth ? k_0 + deep : depth;
        for (ptrdiff_t line = 0; line < width; line++)
            for (ptrdiff_t k = k_0; k < k_1; k++)
                to[k * step + line] = from[k * along + line * across];
    }
}

/* Eight lines of `run` elements, 8 at least, `across` apart, each beside the same element of the next line:
   element r of line g goes to to[g * apart + r]; the last eight of a line may be copied twice. */
static inline void _pm_eight_lines_$S(ptrdiff_t run, const $T *restrict from, ptrdiff_t across,
        const $T *next, $T *restrict to, ptrdiff_t apart)
{
    for (ptrdiff_t g = 0; g < run; g += 8) {
        const ptrdiff_t at = g + 8 < run ? g : run - 8;
        for (int other = 0; other < 8; other++)
            __builtin_prefetch(next + other * across + at);
        _pm_transpose_$S(8, from + at, across, to + at * apart, apart);
    }
    for (int other = 0; other < 8; other++)
        __builtin_prefetch(next + other * across + run - 1);
}

/* `run` lines of `width` elements, in the same way; the last eight of either may be copied twice.  The next
   eight lines are requested meanwhile, and after the last those `along` further on; where all of these are
   few blocks of eight, those that are as many steps further on as memory takes. */
static void _pm_run_$S(ptrdiff_t run, ptrdiff_t width, const $T *restrict from, ptrdiff_t across,
        ptrdiff_t along, $T *restrict to, ptrdiff_t apart)
{
    if (width >= 8 && run >= 8) {
        const ptrdiff_t blocks = (width + 7) / 8 * ((run + 7) / 8);
        const ptrdiff_t steps = blocks < 6 ? (5 + blocks) / blocks : 0;
        for (ptrdiff_t r = 0; r < width; r += 8) {
            const ptrdiff_t line = r + 8 < width ? r : width - 8;
            const $T *const next = from + (steps > 0 ? line * across + steps * along
                                           : r + 8 < width ? (line + 8) * across : along);
            _pm_eight_lines_$S(run, from + line * across, across, next, to + line, apart);
        }
        return;
    }
    for (ptrdiff_t r = 0; r < width; r++)
        for (ptrdiff_t g = 0; g < run; g++)
            to[g * apart + r] = from[r * across + g];
}

/* How many offsets of a table follow each other without a gap, from one of them on. */
static ptrdiff_t _pm_neighbours_$S(const ptrdiff_t *table, ptrdiff_t width, ptrdiff_t first, ptrdiff_t last)
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
} _pm_depth_$S;

/* A piece of a segment: where it begins in that, and its length. */
typedef struct {
    ptrdiff_t segment, begin, length;
} _pm_chunk_$S;

static inline _pm_chunk_$S _pm_chunk_of_$S(const _pm_depth_$S *cut, ptrdiff_t chunk)
{
    const ptrdiff_t group = chunk / (cut->pieces * cut->group), first = group * cut->group;
    const ptrdiff_t size = cut->count - first < cut->group ? cut->count - first : cut->group;
    const ptrdiff_t rest = chunk - first * cut->pieces, piece = rest / size;
    const _pm_chunk_$S found = {first + rest % size, _pm_before_$S(cut->k, cut->pieces, piece),
                                _pm_piece_$S(cut->k, cut->pieces, piece)};
    return found;
}

/* Pack a strip of A or a panel of B: chunks first..last - 1 of the depth; at: where its segments lie. */
static void _pm_pack_$S(ptrdiff_t first, ptrdiff_t last, const _pm_depth_$S *cut, const ptrdiff_t *at,
        ptrdiff_t width, const $T *from, ptrdiff_t across, ptrdiff_t along, $T *to, ptrdiff_t step)
{
    for (ptrdiff_t chunk = first; chunk < last;) {
        const _pm_chunk_$S now = _pm_chunk_of_$S(cut, chunk);
        const $T *const begin = from + at[2 * now.segment] + now.begin * along;
        ptrdiff_t run = 1;
        if (across != 1 && along != 1 && cut->group > 1) {
            const ptrdiff_t left = cut->group - now.segment % cut->group;
            const ptrdiff_t here = last - chunk < left ? last - chunk : left;
            run = _pm_neighbours_$S(at, 2, now.segment,
                                    now.segment + here < cut->count ? now.segment + here : cut->count);
        }
        if (run >= 8)
            for (ptrdiff_t i = 0; i < now.length; i++)
                _pm_run_$S(run, width, begin + i * along, across, along, to + i * step, now.length * step);
        else {
            const _pm_chunk_$S soon = _pm_chunk_of_$S(cut, chunk + run < last ? chunk + run : first);
            const ptrdiff_t further = at[2 * soon.segment] - at[2 * now.segment]
                                    + (soon.begin - now.begin) * along
                                    + (chunk + run < last ? 0 : width * across);
            /* Of short pieces the same place of the next one, or of the next lines. */
            const ptrdiff_t ahead = along == 1 && now.length <= 4 * _PM_FAR_$S ? further : _PM_FAR_$S;
            for (ptrdiff_t one = 0; one < run; one++)
                _pm_strip_$S(width, now.length, begin + one, across, along, to + one * now.length * step,
                             step, ahead);
        }
        to += run * now.length * step;
        chunk += run;
    }
}

/* How far apart packed strips of so many lines are: an odd number of lines of cache, so that what is written
   side by side into a row of them, where segments are gathered, does not share a few sets of the caches. */
static inline ptrdiff_t _pm_apart_$S(ptrdiff_t room, ptrdiff_t depth)
{
    enum { line = 64 / sizeof($T) };
    return ((room * depth + line - 1) / line | 1) * line;
}

/* How an operand is cut: each segment has `count` lines, in `each` strips or panels of whole units of `unit`
   lines; chunks first..last - 1 are packed, each strip with room for `room` lines, `apart` elements apart. */
typedef struct {
    ptrdiff_t count, each, unit, room, first, last, apart;
    const _pm_depth_$S *cut;
    const ptrdiff_t *at;
} _pm_lines_$S;

static inline ptrdiff_t _pm_line_$S(const _pm_lines_$S *lines, ptrdiff_t strip)
{
    return _pm_before_$S((lines->count + lines->unit - 1) / lines->unit, lines->each, strip) * lines->unit;
}

/* How many elements a strip has of each depth. */
static inline ptrdiff_t _pm_width_$S(const _pm_lines_$S *lines, ptrdiff_t strip)
{
    return _pm_piece_$S((lines->count + lines->unit - 1) / lines->unit, lines->each, strip) * lines->unit;
}

/* And how many of them the operand has. */
static inline ptrdiff_t _pm_filled_$S(const _pm_lines_$S *lines, ptrdiff_t strip)
{
    const ptrdiff_t left = lines->count - _pm_line_$S(lines, strip), width = _pm_width_$S(lines, strip);
    return left < width ? left : width;
}

enum { _PM_TOGETHER_$S = 32 };

/* At most so many strips begin..end - 1 whose lines are neighbours, all of them at each depth. */
static void _pm_pack_lines_$S(const _pm_lines_$S *lines, ptrdiff_t begin, ptrdiff_t end,
        const ptrdiff_t *offsets, const $T *from, ptrdiff_t along, $T *to)
{
    const ptrdiff_t ahead = 2 + 48 / (end - begin); /* lines of depth between request and copy */
    ptrdiff_t line[_PM_TOGETHER_$S], width[_PM_TOGETHER_$S], filled[_PM_TOGETHER_$S], done = 0;
    for (ptrdiff_t strip = begin; strip < end; strip++) {
        const ptrdiff_t within = strip % lines->each;
        line[strip - begin] = offsets[3 * (strip / lines->each)] + _pm_line_$S(lines, within);
        width[strip - begin] = _pm_width_$S(lines, within);
        filled[strip - begin] = _pm_filled_$S(lines, within);
    }
    for (ptrdiff_t chunk = lines->first; chunk < lines->last; chunk++) {
        const _pm_chunk_$S now = _pm_chunk_of_$S(lines->cut, chunk);
        const $T *source = from + lines->at[2 * now.segment] + now.begin * along;
        for (ptrdiff_t i = 0; i < now.length; i++, done++, source += along) {
            const ptrdiff_t soon = i + ahead < now.length || chunk + 1 < lines->last ? ahead * along : 0;
            for (ptrdiff_t s = 0; s < end - begin; s++) {
                for (ptrdiff_t r = 0; r < filled[s]; r += 64 / (int)sizeof($T))
                    __builtin_prefetch(source + line[s] + r + soon);
                _pm_strip_$S(filled[s], 1, source + line[s], 1, 1, to + s * lines->apart + done * width[s],
                             width[s], 0);
            }
        }
    }
}

/* The strip after those that are packed together with `strip`: of the same segment, and of further ones that
   lie nearer to each other than one step of the depth. */
static ptrdiff_t _pm_beside_$S(ptrdiff_t strip, ptrdiff_t end, ptrdiff_t each, const ptrdiff_t *offsets,
        ptrdiff_t along)
{
    const ptrdiff_t most = strip + _PM_TOGETHER_$S < end ? strip + _PM_TOGETHER_$S : end;
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
static void _pm_pack_segments_$S(const _pm_lines_$S *lines, ptrdiff_t run, ptrdiff_t strip, const $T *from,
        ptrdiff_t across, ptrdiff_t along, $T *to)
{
    const ptrdiff_t width = _pm_width_$S(lines, strip), filled = _pm_filled_$S(lines, strip);
    const ptrdiff_t apart = lines->each * lines->apart;
    const ptrdiff_t together = along < across && filled > 8 && run >= 8 ? 8 : filled;
    from += _pm_line_$S(lines, strip) * across;
    for (ptrdiff_t r = 0; r < filled; r += together) {
        const ptrdiff_t line = r + together < filled ? r : filled - together;
        $T *target = to + line;
        for (ptrdiff_t chunk = lines->first; chunk < lines->last; chunk++) {
            const _pm_chunk_$S now = _pm_chunk_of_$S(lines->cut, chunk);
            const $T *source = from + lines->at[2 * now.segment] + now.begin * along + line * across;
            for (ptrdiff_t i = 0; i < now.length; i++, source += along, target += width)
                _pm_run_$S(run, together, source, across, along, target, apart);
        }
    }
}

/* Strips begin..end - 1 of an operand; offsets: where its segments lie, one of three in a row. */
static void _pm_pack_all_$S(const _pm_lines_$S *lines, ptrdiff_t begin, ptrdiff_t end,
        const ptrdiff_t *offsets, const $T *from, ptrdiff_t across, ptrdiff_t along, $T *to)
{
    const ptrdiff_t each = lines->each, size = lines->apart;
    if (across == 1) {
        for (ptrdiff_t strip = begin, next; strip < end; strip = next) {
            next = _pm_beside_$S(strip, end, each, offsets, along);
            _pm_pack_lines_$S(lines, strip, next, offsets, from, along, to + (strip - begin) * size);
        }
        return;
    }
    for (ptrdiff_t within = 0; within < each; within++) {
        const ptrdiff_t last = end / each + (within < end % each);
        ptrdiff_t segment = begin / each + (within < begin % each);
        while (segment < last) {
            ptrdiff_t run = along == 1 ? 1 : _pm_neighbours_$S(offsets, 3, segment, last);
            const $T *const source = from + offsets[3 * segment];
            $T *const target = to + (segment * each + within - begin) * size;
            if (run >= 8)
                _pm_pack_segments_$S(lines, run, within, source, across, along, target);
            else {
                run = 1;
                _pm_pack_$S(lines->first, lines->last, lines->cut, lines->at,
                            _pm_filled_$S(lines, within), source + _pm_line_$S(lines, within) * across,
                            across, along, target, _pm_width_$S(lines, within));
            }
            segment += run;
        }
    }
}

"""
PACKING = SHUFFLES + _TEXT
