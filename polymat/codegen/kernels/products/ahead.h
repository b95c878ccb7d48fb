/* Requests for what a product packs next, made while it computes with what is packed.

   Packing by itself waits for memory, and register blocks by themselves leave memory idle.  So a full register
   block requests one line of cache at each step of its depth: first of the packed panel after the one in use
   where that lies far away, else of the operand that is packed next one column, of lines below each other, or
   where its columns are contiguous a part of one of its rows. */
#pragma once

#include "products/packing.h"

/* The columns of lines of cache in strips strip..end - 1 of an operand that are not requested yet, with the
   one to request now: element `at` of a run of segments, in one of their lines (none: -1).  `calls` blocks
   share the `columns` out evenly; the lines of a column are as far apart as steps of the depth. */
typedef struct {
    NAME(lines) lines;
    const ptrdiff_t *offsets;
    const T *from;
    ptrdiff_t strip, end, across, along, line, at, run, columns, calls, owed;
} NAME(ahead);

enum { CONST(LINE) = 64 / sizeof(T) };

/* None but where segments are gathered and the lines of a column equally far apart. */
static inline NAME(ahead) NAME(ahead_of)(const NAME(lines) *lines, ptrdiff_t strip, ptrdiff_t end,
        ptrdiff_t calls, const ptrdiff_t *offsets, const T *from, ptrdiff_t across, ptrdiff_t along)
{
    const int some = strip < end && lines->last - lines->first == 1 && across != 1 && along != 1;
    const NAME(ahead) found = {*lines, offsets, from, strip, end, across, along, -1, 0, 0,
            (end - strip) * lines->room / CONST(LINE), some ? calls : 0, 0};
    return found;
}

/* Go to the next column: along the segments that are neighbours in memory, then to the next line. */
static __attribute__((noinline)) void NAME(next_column)(NAME(ahead) *ahead)
{
    const NAME(lines) *const lines = &ahead->lines;
    const ptrdiff_t each = lines->each, segment = ahead->strip / each, within = ahead->strip % each;
    const ptrdiff_t next = (segment + 1) * each < ahead->end ? (segment + 1) * each : ahead->end;
    const ptrdiff_t last = next % each == 0 ? lines->count : NAME(line)(lines, next % each);
    if (ahead->line < 0) {
        ahead->line = NAME(line)(lines, within);
        ahead->at = 0;
        ahead->run = within != 0 || next % each != 0
                ? 1
                : NAME(neighbours)(ahead->offsets, 3, segment, ahead->end / each);
        return;
    }
    if ((ahead->at += CONST(LINE)) >= ahead->run) {
        ahead->at = 0;
        ahead->line++;
    }
    if (ahead->line >= last) {
        ahead->strip = ahead->run > 1 ? (segment + ahead->run) * each : next;
        ahead->line = -1;
    }
}

/* What a block requests: the first line of a column, or nothing. */
static inline const char *NAME(request_column)(NAME(ahead) *ahead)
{
    const ptrdiff_t strip = ahead->strip;
    const ptrdiff_t before = ahead->line < 0 ? -1 : ahead->line * ahead->run + ahead->at;
    ahead->owed += ahead->columns;
    for (; ahead->owed >= ahead->calls && ahead->strip < ahead->end; ahead->owed -= ahead->calls)
        NAME(next_column)(ahead);
    if (ahead->line < 0 || ahead->strip >= ahead->end
            || (strip == ahead->strip && before == ahead->line * ahead->run + ahead->at))
        return NULL;
    const NAME(chunk) now = NAME(chunk_of)(ahead->lines.cut, ahead->lines.first);
    return (const char *)(ahead->from + ahead->offsets[3 * (ahead->strip / ahead->lines.each)] + ahead->at
            + ahead->line * ahead->across + ahead->lines.at[2 * now.segment] + now.begin * ahead->along);
}

/* What of the right operand is packed next: `rows` of each of some segments, `step` bytes apart; `each`
   blocks request one of them, `width` bytes at a time, `pace` at each step of their depth; call: which is
   the next of these. */
typedef struct {
    const ptrdiff_t *columns;
    const char *from;
    ptrdiff_t rows, step, segments, width, each, pace, call;
} NAME(rows_ahead);

/* That of up to `count` panels from one of them on, in whole segments or one; requested by so many calls of
   blocks.  Rows that follow each other are one.  None where there are fewer calls than rows. */
static NAME(rows_ahead) NAME(rows_ahead_of)(const NAME(lines) *lines, ptrdiff_t panel, ptrdiff_t end,
        ptrdiff_t depth, ptrdiff_t calls, const ptrdiff_t *columns, const T *from, ptrdiff_t step)
{
    const ptrdiff_t each = lines->each, bytes = sizeof(T), first = panel % each, last = first + end - panel;
    const ptrdiff_t j = NAME(line)(lines, first);
    const ptrdiff_t j_1 = last < each ? NAME(line)(lines, last) : lines->count;
    const ptrdiff_t segments = last > each ? last / each : 1, joined = step == j_1 - j;
    const ptrdiff_t rows = joined ? 1 : depth, width = (j_1 - j) * bytes * (joined ? depth : 1);
    const ptrdiff_t share = depth > 0 ? calls / (rows * segments) : 0;
    const ptrdiff_t part = share > 0 ? (width + share - 1) / share : 0;
    const NAME(rows_ahead) found = {columns + panel / each * 3, (const char *)(from + j), rows, step * bytes,
            segments, part, share, share > 0 ? (part + depth - 1) / depth : 0, 0};
    return found;
}

/* What a call requests: a part of a row, or nothing. */
static inline const char *NAME(request_row)(NAME(rows_ahead) *ahead)
{
    const ptrdiff_t call = ahead->call++, row = call / ahead->each, segment = row / ahead->rows;
    if (segment >= ahead->segments)
        return NULL;
    return ahead->from + ahead->columns[3 * segment] * (ptrdiff_t)sizeof(T) + row % ahead->rows * ahead->step
            + call % ahead->each * ahead->width;
}

/* The lines of cache of some neighbours in rows that are packed next, from `next` on, `count` of them in each
   row, which are `pace` bytes apart: a block requests one in as many rows as it has steps. */
typedef struct {
    const char *next;
    ptrdiff_t count, pace;
} NAME(lines_ahead);

static NAME(lines_ahead) NAME(lines_ahead_of)(const T *from, ptrdiff_t width, ptrdiff_t step)
{
    enum { line = 64 };
    const ptrdiff_t bytes = sizeof(T), within = (ptrdiff_t)((uintptr_t)from % line);
    const NAME(lines_ahead) found = {(const char *)from, (within + width * bytes + line - 1) / line,
            step * bytes};
    return found;
}

/* What a block requests: a line of the first row, or nothing. */
static inline const char *NAME(request_line)(NAME(lines_ahead) *ahead)
{
    const char *const now = ahead->next;
    if (ahead->count <= 0)
        return NULL;
    ahead->count--;
    ahead->next += 64;
    return now;
}

/* The panel after those that are packed together with `panel`, of all of them, of `elements` each: `most`
   in all or a few times as many.  Segments that are neighbours in memory are packed together, whole runs of
   them where these are short; else a run is cut where a line of cache ends, if that is so for all lines. */
static __attribute__((noinline)) ptrdiff_t NAME(batch)(ptrdiff_t panel, ptrdiff_t all, ptrdiff_t each,
        ptrdiff_t elements, ptrdiff_t most, const ptrdiff_t *offsets, const T *from, ptrdiff_t across,
        ptrdiff_t along)
{
    const ptrdiff_t few = most / elements > 1 ? most / elements : 1, segment = panel / each;
    if (across == 1 || along == 1 || panel % each != 0 || all < (GATHERED + segment) * each)
        return panel + few < all ? panel + few : all;
    const ptrdiff_t fit = 2 * few / each / GATHERED > 1 ? 2 * few / each / GATHERED * GATHERED : GATHERED;
    const ptrdiff_t whole = 3 * few / each > fit + 2 * GATHERED ? 3 * few / each : fit + 2 * GATHERED;
    const ptrdiff_t end = segment + whole + 1 < all / each ? segment + whole + 1 : all / each;
    const ptrdiff_t run = NAME(neighbours)(offsets, 3, segment, end);
    if (run < 2 * GATHERED || (run <= whole && run * each <= 3 * few))
        return (segment + run) * each;
    ptrdiff_t count = run - fit >= GATHERED ? fit : run / 2;
    if (run - fit >= GATHERED && across % CONST(LINE) == 0 && along % CONST(LINE) == 0) {
        const ptrdiff_t beyond =
                (ptrdiff_t)((size_t)(from + offsets[3 * segment] + count) / sizeof(T) % CONST(LINE));
        count += count >= GATHERED + beyond ? -beyond : CONST(LINE) - beyond;
        count = run - count >= GATHERED ? count : run / 2;
    }
    return (segment + count) * each;
}
