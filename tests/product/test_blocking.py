"""What `explain()` says of register-block products: their scheme, and what moves between levels of memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import ceil, prod

import pytest

import polymat as pm
from polymat.codegen.report import GroupReport, Prediction
from polymat.machine.known import GENERIC, ZEN3
from polymat.product.blocks import blocks_of
from polymat.product.cutting import cut_of, cut_past
from tests.hosts import CompileFor

OPTIONS = pm.Options(blas="never", cflags=("-O0",), threads=1)
SIZES = {name: pm.Parameter(pm.Int, f"n{name}") for name in "abcdef"}
BLOCKS = blocks_of(ZEN3, 8)  # 6 x 8, kc 1024, mc 30, 65536 elements in the second level


def passed(m: int, n: int, k: int, *, packs_left: bool) -> tuple[int, int, int]:
    """The blocks of a product whose rows pass parts of the right operand."""
    one = dict.fromkeys(("row_segments", "column_segments", "depth_segments"), 1.0)
    return cut_past({"m": m, "n": n, "k": k, "place": 0.0, "along": float(not packs_left), **one}, BLOCKS)


@pytest.fixture(autouse=True)
def machine(compile_for: CompileFor) -> None:
    compile_for(ZEN3)


def group_of(spec: str, extents: Mapping[str, int]) -> GroupReport:
    """The report of an einsum of A and B at estimated sizes."""
    left, right = spec.split("->")[0].split(",")
    A, B = (pm.Image(pm.Double, x, [SIZES[d] for d in of]) for x, of in (("A", left), ("B", right)))
    estimates = {SIZES[dim]: size for dim, size in extents.items()}
    found = pm.compile(pm.einsum(spec, A, B), inputs=[A, B], estimates=estimates, options=OPTIONS)
    group: GroupReport
    (group,) = found.explain().groups
    return group


def predicted(group: GroupReport) -> Prediction:
    assert group.predicted is not None
    return group.predicted


@pytest.mark.parametrize(
    ("extents", "scheme"),
    [
        ((37, 48, 64), "[Par(a), R(b), R(a), R(c), seq(a: 6 | 5), U(b, 8), V(b, 4)]"),
        ((9, 12, 33), "[Par(a), R(b), R(a), R(c), seq(a: 5 | 4), seq(b: 8 | 4), V(b, 4)]"),
        ((12, 16, 80), "[Par(a), R(b), R(a), R(c), U(a, 6), U(b, 8), V(b, 4)]"),
    ],
)
def test_products_in_the_cache_are_not_packed(extents: tuple[int, int, int], scheme: str) -> None:
    reason = group_of("ac,cb->ab", dict(zip("abc", extents, strict=True))).reason
    assert scheme in reason


def test_depth_and_rows_are_cut_evenly() -> None:
    reason = group_of("ca,cb->ab", {"a": 600, "b": 600, "c": 1500}).reason
    rows, columns, depth = passed(600, 600, 1500, packs_left=True)
    assert depth == 750 < BLOCKS.kc
    assert rows == 600
    assert f"T(b, {columns}), T(c, {depth}), pack(B), pack(A), R(a), R(b), R(c)" in reason


def test_packed_rows_stay_beside_a_right_operand_of_one_part() -> None:
    reason = group_of("ca,cb->ab", {"a": 4000, "b": 60, "c": 100}).reason
    rows, columns, depth = passed(4000, 60, 100, packs_left=True)
    assert (columns, depth) == (60, 100)
    assert rows * depth <= BLOCKS.small / 4
    assert f"pack(B), T(a, {rows}), pack(A), R(a), R(b), R(c)" in reason


def test_rows_of_contiguous_depth_pass_a_part_of_the_right_operand() -> None:
    reason = group_of("ac,cb->ab", {"a": 600, "b": 160, "c": 1500}).reason
    rows, columns, depth = passed(600, 160, 1500, packs_left=False)
    assert rows == 600
    assert depth == 750
    assert columns * depth <= BLOCKS.small * 5 / 8
    assert f"T(b, {columns}), T(c, {depth}), pack(B), R(a), R(b), R(c)" in reason


@pytest.mark.parametrize(
    ("extents", "copies"),
    [
        ((600, 600, 600), True),
        ((600, 300, 600), False),  # few parts pass
        ((200, 600, 600), False),  # the second level holds the rows twice
        ((600, 192, 2000), False),
        ((600, 193, 2000), True),  # a part of the depth is what counts
    ],
)
def test_rows_that_pass_many_parts_are_copied(extents: tuple[int, int, int], copies: bool) -> None:
    reason = group_of("ac,cb->ab", dict(zip("abc", extents, strict=True))).reason
    assert ("pack(A" in reason) is copies


def test_little_depth_makes_larger_blocks_the_other_way() -> None:
    rows, columns, depth = cut_of(BLOCKS, 4000, 4000, 100)
    assert depth == 100
    assert BLOCKS.mc < rows <= BLOCKS.mc * (BLOCKS.kc // 100)
    assert columns * depth > BLOCKS.small


def test_a_large_result_is_walked_along_its_rows_where_the_copy_stays_near() -> None:
    assert cut_of(BLOCKS, 4096, 32, 2048)[0] == 2 * BLOCKS.rows
    assert cut_of(BLOCKS, 60, 32, 2048)[0] == BLOCKS.mc  # a small one is not


def test_dimensions_of_one_side_are_one_loop() -> None:
    extents = dict(zip("abcdef", (24, 20, 18, 24, 20, 18), strict=True))
    reason = group_of("aebf,dfce->abcd", extents).reason
    assert "R(c*d), R(a*b), R(e*f)" in reason
    assert "pack(B: f, e, c, d)" in reason or "pack(B: e, f, c, d)" in reason


def test_copies_that_permute_tell_the_order() -> None:
    plain = group_of("ca,cb->ab", {"a": 600, "b": 600, "c": 1500}).reason
    assert "pack(B)" in plain
    assert "pack(A)" in plain
    permuted = group_of("aec,bce->ab", {"a": 60, "b": 700, "c": 90, "e": 50}).reason
    assert "pack(A: e, c, a)" in permuted or "pack(A: c, e, a)" in permuted
    assert "pack(B: e, c, b)" in permuted or "pack(B: c, e, b)" in permuted


def test_a_large_operand_beside_few_rows_is_read_where_it_is() -> None:
    group = group_of("ac,cb->ab", {"a": 16, "b": 99999, "c": 160})
    assert "pack(B" not in group.reason
    found = re.search(
        r"\[Par\(b\), T\(b, (\d+)\), T\(c, 54\), pack\(A: c, a\), R\(b\), R\(a\), R\(c\), ", group.reason
    )
    assert found is not None  # 54 steps of the depth: the third part
    assert (
        BLOCKS.small // 8 < 16 * int(found[1]) <= BLOCKS.small // 4
    )  # results that three parts are added to
    operands = 8 * 160 * 99999
    assert operands < predicted(group).bytes["memory"] < 1.3 * operands


def test_a_large_operand_beside_few_columns_is_read_where_it_is() -> None:
    reason = group_of("ca,cb->ab", {"a": 99999, "b": 12, "c": 160}).reason
    assert "[Par(a), pack(B), R(a), R(b), R(c), " in reason


def test_lines_that_share_few_sets_are_copied() -> None:
    assert "pack(B" in group_of("ac,cb->ab", {"a": 16, "b": 1 << 16, "c": 160}).reason
    assert "as its transpose" in group_of("ca,cb->ab", {"a": 1 << 16, "b": 12, "c": 160}).reason
    assert "as few columns" in group_of("ca,cb->ab", {"a": (1 << 16) + 1, "b": 12, "c": 160}).reason


def test_results_past_the_caches_are_written_in_the_order_of_memory(compile_for: CompileFor) -> None:
    """All of A, of whose rows there are many segments, is copied first; then all of a part of B is used."""
    wide = replace(GENERIC, vector_bits=512, vector_registers=32, line_bytes=64)
    compile_for(wide)
    blocks = blocks_of(wide, 8)
    extents = {"a": 400, "b": 16, "c": 400, "d": 16, "e": 24}
    group = group_of("eab,dec->acbd", extents)
    few = 2 * (blocks.small // 4 // (blocks.columns * 24))
    columns = 16 * 8 * ceil(400 / ceil(400 / few) / 8)  # neighbouring segments are packed together
    order = f"pack(A), T(c*d, {columns}), pack(B: e, c, d), T(a*b, 16), R(c*d), R(a*b), R(e), "
    assert order in group.reason
    points = prod(extents.values())
    operands, results = 8 * points * (1 / blocks.rows + 1 / 16), 2 * 8 * points / 24
    assert predicted(group).bytes["L1"] < 1.2 * (operands + results)
    one = group_of("eab,ecd->abcd", extents | {"a": 20, "b": 320}).reason  # rows are one segment
    assert "written past the caches" in one
    assert one.index("T(") < one.index("pack(A")


def test_registers_save_what_they_hold() -> None:
    """From the first level come a row of B for each block of rows and A for each block of columns."""
    n = 960
    found = predicted(group_of("ac,cb->ab", dict.fromkeys("abc", n)))
    operands = 8 * n**3 * (1 / BLOCKS.rows + 1 / BLOCKS.columns)
    assert operands < found.bytes["L1"] < 1.1 * operands
    assert 4 * 8 * n**2 <= found.bytes["memory"] < 10 * 8 * n**2
    traffic = list(found.bytes.values())
    assert traffic[-1] <= traffic[0]


def test_an_epilogue_moves_the_product_and_what_its_readers_touch() -> None:
    n = 960
    a, b = (pm.Variable(pm.Int, name) for name in "ab")
    extents = [SIZES["a"], SIZES["b"], SIZES["c"]]
    A, B = pm.Matrix(pm.Double, "A", extents[::2]), pm.Matrix(pm.Double, "B", extents[:0:-1])
    bias = pm.Vector(pm.Double, "bias", [SIZES["b"]])
    product = (A @ B).named("product")
    spans = [pm.Interval(pm.Int, 0, size - 1) for size in extents[:2]]
    out = pm.Function(([a, b], spans), pm.Double, "out")
    out.defn = [pm.Max(product(a, b) + bias(b), 0.0)]
    estimates = dict.fromkeys(extents, n)
    compiled = pm.compile(out, inputs=[A, B, bias], estimates=estimates, options=OPTIONS)
    (group,) = compiled.explain().groups
    bare = predicted(group_of("ac,cb->ab", dict.fromkeys("abc", n)))
    assert bare.bytes["L1"] < predicted(group).bytes["L1"] < 1.1 * bare.bytes["L1"]
