"""Cuts of ranges: every point in one part, whole units, triangles by areas; and generated code cuts alike."""

from __future__ import annotations

import ctypes
from itertools import pairwise

import pytest

from polymat.codegen.c.ctree import CExpr, Id
from polymat.codegen.c.needs import Need
from polymat.codegen.c.render import expression
from polymat.codegen.cutranges import piece_of
from polymat.product.shares import Work, ranges
from polymat.runtime.libraryfile import build

LENGTHS = (0, 1, 5, 6, 7, 12, 97, 1000, 100_003)
WORKS: tuple[Work, ...] = ("even", "rising", "falling")


@pytest.mark.parametrize("work", WORKS)
def test_every_point_is_in_one_part(work: Work) -> None:
    for length in LENGTHS:
        for count in (1, 2, 3, 7, 16):
            found = [*ranges(work, length, 6, count)]
            assert (found[0][0], found[-1][1], len(found)) == (0, length, count)
            assert all(before[1] == after[0] and before[0] <= before[1] for before, after in pairwise(found))


def test_even_parts_are_whole_units_of_nearly_the_same_number() -> None:
    for length in LENGTHS:
        ends = [end for _, end in ranges("even", length, 6, 7)]
        assert all(end % 6 == 0 or end == length for end in ends)
        units = [-(-(end - begin) // 6) for begin, end in ranges("even", length, 6, 7)]
        assert max(units) - min(units) <= 1


@pytest.mark.parametrize("work", ["rising", "falling"])
def test_parts_of_a_triangle_have_the_same_area(work: Work) -> None:
    lines = range(1000) if work == "rising" else range(999, -1, -1)
    areas = [sum(lines[begin:end]) for begin, end in ranges(work, 1000, 1, 4)]
    assert max(areas) - min(areas) < 2 * 1000


@pytest.mark.parametrize("unit", [1, 6])
@pytest.mark.parametrize("work", WORKS)
def test_generated_code_cuts_in_the_same_places(work: Work, unit: int) -> None:
    needs: set[Need] = set()
    ends: tuple[CExpr, CExpr] = (Id("first"), Id("last"))
    begin, end = map(expression, piece_of(work, unit, ends, (Id("part"), Id("parts")), needs))
    built = build(
        "#include <stddef.h>\n"
        "static inline ptrdiff_t _pm_min_i64(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }\n"
        "ptrdiff_t cut(ptrdiff_t first, ptrdiff_t last, ptrdiff_t part, ptrdiff_t parts, int at_end)\n"
        f"{{\n    return at_end ? {end} : {begin};\n}}\n"
    )
    cut = ctypes.CDLL(str(built.path)).cut
    built.release()
    cut.argtypes, cut.restype = (*(4 * [ctypes.c_ssize_t]), ctypes.c_int), ctypes.c_ssize_t
    for length in LENGTHS:
        for count in (1, 2, 3, 7, 16):
            expected = [(3 + begin, 3 + end) for begin, end in ranges(work, length, unit, count)]
            found = [tuple(cut(3, 3 + length, k, count, end) for end in (0, 1)) for k in range(count)]
            assert found == expected, (length, count)
