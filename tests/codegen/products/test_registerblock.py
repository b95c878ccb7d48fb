"""The C text of a register block is what its description says, part by part."""

from dataclasses import replace

import pytest

from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.microkernel import full_block
from polymat.codegen.products.registerblock import (
    RegisterBlock,
    WrittenSteps,
    block_text,
    declared,
    loads,
    steps,
    sums,
    whole_vectors,
)

SHAPE = Shape("f64", 32, 2, 1)
BLOCK = RegisterBlock(
    "_pm_made_up",
    "ptrdiff_t depth, const double *a",
    sums=sums(SHAPE, range(2), 1),
    loads=loads(SHAPE, whole_vectors(SHAPE, 1)),
    steps=steps(SHAPE, 2, 1, "1", "2", "4"),
    requests=("__builtin_prefetch(next, 0, 2);",),
    stores="    *(_pm_memory_f64 *)c = c0_0 + c1_0;\n",
)
TEXT = """\
_PM_SHARED __attribute__((noinline)) void _pm_made_up(ptrdiff_t depth, const double *a)
{
    _pm_vector_f64 c0_0 = {0};
    _pm_vector_f64 c1_0 = {0};
#pragma GCC unroll 1
    for (ptrdiff_t k = 0; k < depth; k++) {
        const _pm_vector_f64 b0 = *(const _pm_memory_f64 *)(b + 0);
        const double a0 = a[0 * 1];
        c0_0 += a0 * b0;
        const double a1 = a[1 * 1];
        c1_0 += a1 * b0;
        a += 2;
        b += 4;
        __builtin_prefetch(next, 0, 2);
    }
    *(_pm_memory_f64 *)c = c0_0 + c1_0;
}
"""


def test_a_block_is_printed_part_by_part() -> None:
    assert block_text(BLOCK) == TEXT


def test_each_is_declared_as_it_is_defined() -> None:
    others = [BLOCK, replace(BLOCK, name="_pm_other", comment="/* why */\n", linkage="static")]
    heads = [block_text(block).removeprefix(block.comment).partition("\n{")[0] for block in others]
    assert declared(others) == "".join(f"{head};\n" for head in heads)
    assert declared(others[:1]) == TEXT.partition("\n{")[0] + ";\n"


def test_a_loop_around_the_depth_is_closed() -> None:
    walking = replace(BLOCK, around=("for (int part = 0; part < 2; part++) {", "    a = at[part];"))
    lines = block_text(walking).splitlines()
    begin = lines.index("    for (int part = 0; part < 2; part++) {")
    assert lines[begin + 1 : begin + 4] == [
        "        a = at[part];",
        "#pragma GCC unroll 1",
        "        for (ptrdiff_t k = 0; k < depth; k++) {",
    ]
    assert lines[-4:-2] == ["        }", "    }"]


def test_steps_that_are_written_out_come_before_those_left_over() -> None:
    ahead = WrittenSteps(3, requests=("__builtin_prefetch(next + turn, 0, 2);",), onward=("next += 3;",))
    several = replace(BLOCK, written=ahead)
    lines = block_text(several).splitlines()
    begin = lines.index("    ptrdiff_t k = 0;")
    assert lines[begin + 1 : begin + 5] == [
        "#pragma GCC unroll 1",
        "    for (; k + 3 <= depth; k += 3) {",
        "#pragma GCC unroll 3",
        "        for (int turn = 0; turn < 3; turn++) {",
    ]
    end = lines.index("        next += 3;")
    assert lines[end - 2 : end] == ["            __builtin_prefetch(next + turn, 0, 2);", "        }"]
    assert lines[end + 1 : end + 4] == ["    }", "#pragma GCC unroll 1", "    for (; k < depth; k++) {"]
    assert block_text(several).count("c1_0 += a1 * b0;") == 2


@pytest.mark.parametrize(("vector_bytes", "rows", "vectors"), [(32, 6, 2), (64, 8, 3), (64, 4, 5)])
def test_steps_of_full_blocks_are_written_out_and_load_each_vector_once(
    vector_bytes: int, rows: int, vectors: int
) -> None:
    text = full_block(Shape("f64", vector_bytes, rows, vectors))
    assert "turn < 4" in text
    assert text.count("volatile") == 2 * vectors  # of steps that are written out, and of those left over


def test_what_comes_before_and_first_stands_around_the_sums() -> None:
    declared = replace(
        BLOCK, before="    BEFORE;\n", first="    FIRST;\n", comment="/* why */\n", linkage="static"
    )
    text = block_text(declared)
    assert text.startswith("/* why */\nstatic __attribute__((noinline)) void _pm_made_up(")
    assert text.index("BEFORE;") < text.index("c0_0 = {0}") < text.index("FIRST;") < text.index("#pragma")


def test_a_block_without_steps_has_no_loop() -> None:
    straight = replace(BLOCK, loads=(), steps=(), requests=(), first="    c0_0 += a[0] * b0;\n")
    assert "for (" not in block_text(straight)
    assert "{0};\n    c0_0 += a[0] * b0;\n    *(_pm_memory_f64 *)c = " in block_text(straight)
