"""Microkernels of a user's own in schemes: whole blocks by them, all else by loops, and what does not fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Matrix, OptionError, Parameter
from polymat.product.scheme import Scheme
from polymat.product.schemetext import read_scheme
from tests.differential.microkernels import microkernel
from tests.tolerance import assert_close

M, N, K = (Parameter(Int, name) for name in "MNK")
A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
PACKED = (
    "[T(j, 16), T(k, 7), pack(B), T(i, 12), pack(A: k, i), R(j), R(i), R(k), U(i, 6), U(j, 8), Call(block)]"
)
PLAIN = "[R(i), R(j), R(k), U(i, 6), U(j, 8), Call(block)]"
QUICK = ("-O1",)
SIZES = [(6, 8, 0), (1, 1, 1), (6, 8, 1), (5, 8, 3), (13, 17, 9), (24, 32, 14), (0, 3, 2)]


def compiled(scheme: str, kernel: pm.Microkernel, out: Any = None, **options: Any) -> pm.Compiled[Any, Any]:
    product = (A @ B).named("C") if out is None else out
    asked = pm.Options(scheme={"C": scheme}, microkernels=(kernel,), cflags=QUICK, **options)
    return pm.compile(product, name="product", inputs=[A, B], options=asked)


def refused(scheme: str, kernel: pm.Microkernel, out: Any = None) -> tuple[str, str]:
    """What is wrong with a scheme that calls a microkernel, and the hint."""
    with pytest.raises(OptionError) as told:
        compiled(scheme, kernel, out)
    assert told.value.location is not None
    message, _, hint = str(told.value).partition("\nhint: ")
    return message.partition("does not fit: ")[2] or message, hint


def plain(**needs: Any) -> pm.Microkernel:
    return microkernel("block", Double, 6, 8, **needs)


def check(program: pm.Compiled[Any, Any], sizes: list[tuple[int, int, int]] = SIZES) -> None:
    rng = np.random.default_rng(1)
    for m, n, k in sizes:
        a, b = rng.random((m, k)), rng.random((k, n))
        assert_close(program(a, b), program.reference(a, b), roundings=4 * k + 4)


def test_whole_blocks_are_calls_and_the_others_loops() -> None:
    program = compiled(PACKED, plain(left=(1, 6), right=(8, 1)))
    own = program.source[program.source.index("The program's own part") :]
    assert len(re.findall(r"\bblock\(_pm", own)) == 1
    assert program.explain().schemes == {"C": PACKED}
    check(program)


@pytest.mark.covering
@pytest.mark.parametrize("result", [(None, None), (None, 1), (1, None), (8, 1), (1, 6)])
@pytest.mark.parametrize("depth", [1, 4])
def test_any_layout_of_the_result_and_any_depth(result: Any, depth: int) -> None:
    check(compiled(PLAIN, plain(result=result, depth=depth)))


def test_scaled_products_that_add_to_something() -> None:
    C = Matrix(Double, "D", [M, N])
    out = pm.gemm(A, B, C, 2.0, 0.5).named("C")
    merged = "[fuse(tmp_A_B), R(i), R(j), R(k), U(i, 6), U(j, 8), Call(block)]"
    options = pm.Options(scheme={"C": merged}, microkernels=(plain(),), cflags=QUICK)
    program = pm.compile(out, name="product", inputs=[A, B, C], options=options)
    assert program.explain().schemes == {"C": merged}
    rng = np.random.default_rng(2)
    a, b, c = rng.random((13, 9)), rng.random((9, 17)), rng.random((13, 17))
    assert_close(program(a, b, c), program.reference(a, b, c), roundings=50)


def test_rows_and_columns_of_one_point() -> None:
    for rows, columns, text in ((6, 1, "U(i, 6)"), (1, 8, "U(j, 8)")):
        kernel = microkernel("block", Double, rows, columns)
        check(compiled(f"[R(i), R(j), R(k), {text}, Call(block)]", kernel))


def test_blocks_in_tiles_that_threads_share() -> None:
    scheme = "[fuse(C), Par(i*j), T(i, 12), T(j, 16), R(i), R(j), R(k), U(i, 6), U(j, 8), Call(block)]"
    check(compiled(scheme, plain(), threads=2, parallel_threshold=0))


def test_transposed_operands_are_known_by_their_strides() -> None:
    turned = Matrix(Double, "A", [K, M])
    out = (turned.T @ B).named("C")
    options = pm.Options(
        scheme={"C": PLAIN}, microkernels=(plain(left=(1, None), right=(None, 1)),), cflags=QUICK
    )
    program = pm.compile(out, name="product", inputs=[turned, B], options=options)
    a, b = np.random.default_rng(3).random((9, 13)), np.random.default_rng(4).random((9, 17))
    assert_close(program(a, b), a.T @ b, roundings=50)
    by_columns = pm.compile((A @ B).named("C"), name="product", inputs=[A, B], fortran=[A], options=options)
    assert_close(by_columns(np.asfortranarray(a.T), b), a.T @ b, roundings=50)


def test_macros_and_pragmas_of_a_text_change_nothing_else() -> None:
    text = (
        f'#define M 6\n#define _pm_min_i64 0\n#pragma GCC optimize("no-such")\n{plain().source}\n#define N 1'
    )
    check(compiled(PACKED, pm.Microkernel("block", text, Double, 6, 8)))


def test_texts_that_have_the_same_names_beside_their_functions() -> None:
    kernels = [microkernel(name, Double, 6, 8) for name in ("one", "two")]
    texts = [f"static double table[{k}];\n{kernel.source}" for k, kernel in enumerate(kernels, 1)]
    both = tuple(
        pm.Microkernel(name, text, Double, 6, 8) for name, text in zip(("one", "two"), texts, strict=True)
    )
    outs = [(A @ B).named("C"), (B.T @ A.T).named("D")]
    schemes = {"C": PLAIN.replace("block", "one"), "D": PLAIN.replace("block", "two")}
    options = pm.Options(scheme=schemes, microkernels=both, cflags=QUICK, share=False)
    with pytest.raises(OptionError, match=r"(?s)microkernels one and two do not compile in one text:.*table"):
        pm.compile(outs, inputs=[A, B], options=options)


def test_a_block_apart_has_a_bound() -> None:
    said = refused(PLAIN, plain(result=(1000000, 1)))
    assert said[0].startswith("a block of block by itself takes 5000008 elements of the stack")
    assert "result=(None, 1)" in said[1]


def test_a_block_that_is_added_to_the_result_where_it_lies_has_none() -> None:
    wide = plain(result=(20000, 1))
    options = pm.Options(scheme={"C": PLAIN}, microkernels=(wide,), cflags=QUICK)
    program = pm.compile((A @ B).named("C"), name="product", inputs=[A, B], sizes={N: 20000}, options=options)
    check(program, [(13, 20000, 2), (5, 20000, 1)])
    C = Matrix(Double, "D", [M, N])
    scaled, merged = pm.gemm(A, B, C, 2.0, 0.5).named("C"), PLAIN.replace("[", "[fuse(tmp_A_B), ")
    options = pm.Options(scheme={"C": merged}, microkernels=(wide,), cflags=QUICK)
    with pytest.raises(OptionError, match="takes 100008 elements of the stack"):  # its blocks are scaled
        pm.compile(scaled, name="product", inputs=[A, B, C], sizes={N: 20000}, options=options)


def test_strides_that_sizes_fix_are_known() -> None:
    options = pm.Options(scheme={"C": PLAIN}, microkernels=(plain(left=(9, 1), right=(17, 1)),), cflags=QUICK)
    program = pm.compile(
        (A @ B).named("C"), name="product", inputs=[A, B], sizes={K: 9, N: 17}, options=options
    )
    check(program, [(13, 17, 9), (5, 17, 9), (6, 17, 9)])


def test_strides_of_arrays_of_three_dimensions_are_known_as_well() -> None:
    (i, j, k), own = (pm.Variable(Int, name) for name in "ijk"), [pm.Interval(Int, 0, s - 1) for s in (M, N)]
    stack, wide = pm.Image(Double, "S", [M, 4, 5]), Matrix(Double, "B", [5, N])
    out = pm.Reduction(([i, j], own), ([i, j, k], [*own, pm.Interval(Int, 0, 4)]), Double, "C")
    out.defn = [pm.Reduce(out(i, j), stack(i, 2, k) * wide(k, j), pm.Op.Sum)]
    for left in ((20, 1), (10, 1)):
        options = pm.Options(scheme={"C": PLAIN}, microkernels=(plain(left=left),), cflags=QUICK)
        if left != (20, 1):
            with pytest.raises(OptionError, match="needs a stride of 10 along i of S, which is 20"):
                pm.compile(out, inputs=[stack, wide], options=options)
            continue
        program = pm.compile(out, name="product", inputs=[stack, wide], options=options)
        for m, n in ((13, 17), (6, 8), (1, 1)):
            s, b = np.random.default_rng(m).random((m, 4, 5)), np.random.default_rng(n).random((5, n))
            assert_close(program(s, b), s[:, 2] @ b, roundings=30)


def test_large_blocks_say_whose_rest_is_unrolled() -> None:
    scheme = "[R(i), R(j), R(k), U(i, 32), U(j, 32), Call(block)]"
    said = refused(scheme, microkernel("block", Double, 32, 32))[0]
    assert "it unrolls 1024 multiplications, and block leaves it blocks at the ends" in said
    check(
        compiled(scheme.replace("j, 32)", "j, 32), V(j)"), microkernel("block", Double, 32, 32)),
        [(33, 65, 3)],
    )


def test_numbers_of_numpy_and_strides_that_cross() -> None:
    numbers: list[Any] = [np.int64(each) for each in (2, 2, 1)]
    kernel = pm.Microkernel("block", str(microkernel("block", Double, 2, 2).source), Double, *numbers)
    assert [type(each) for each in (kernel.rows, kernel.columns, kernel.depth)] == [int] * 3
    crossing: Any = (np.int64(2), 3)
    scheme = PLAIN.replace("6", "2").replace("8", "2")
    check(compiled(scheme, microkernel("block", Double, 2, 2, result=crossing)))
    for wrong in ((2, 3, (2, 1)), (4, 4, (2, 3))):
        with pytest.raises(OptionError, match="overlap"):
            microkernel("block", Double, wrong[0], wrong[1], result=wrong[2])


def test_a_microkernel_with_the_name_of_an_index() -> None:
    for name in ("i", "k", "depth"):
        check(compiled(PLAIN.replace("block", name), microkernel(name, Double, 6, 8)))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("memcpy", "the C library has a function"), ("while", "a C keyword"), ("ptrdiff_t", "a C type")],
)
def test_names_that_c_has_for_something_else(name: str, wrong: str) -> None:
    with pytest.raises(pm.PolymatError, match=f"'{name}' cannot name a microkernel: {wrong}"):
        compiled(PLAIN.replace("block", name), microkernel(name, Double, 6, 8))


def test_a_stage_that_is_no_product_calls_none() -> None:
    i, j = (pm.Variable(Int, name) for name in "ij")
    own = [pm.Interval(Int, 0, size - 1) for size in (M, K)]
    out = pm.Function(([i, j], own), Double, "C")
    out.defn = [2.0 * A(i, j) + 1.0]
    loops = str(pm.compile(out, inputs=[A]).explain().schemes["C"])
    said = refused(loops.replace("]", ", Call(block)]"), plain(), out)
    assert said[0].startswith("Call(block) is for products of two arrays")


def test_two_microkernels_of_one_file(tmp_path: Path) -> None:
    file = tmp_path / "blocks.c"
    file.write_text("\n".join(str(microkernel(name, Double, 6, 8).source) for name in ("one", "two")))
    kernels = tuple(pm.Microkernel(name, file, "float64", 6, 8) for name in ("one", "two"))
    C, D = (A @ B).named("C"), (B.T @ A.T).named("D")
    schemes = {"C": PLAIN.replace("block", "one"), "D": PLAIN.replace("block", "two")}
    options = pm.Options(scheme=schemes, microkernels=kernels, cflags=QUICK, share=False)
    program = pm.compile([C, D], name="products", inputs=[A, B], options=options)
    rng = np.random.default_rng(5)
    a, b = rng.random((13, 9)), rng.random((9, 17))
    for found, wanted in zip(program(a, b), (a @ b, (a @ b).T), strict=True):
        assert_close(found, wanted, roundings=50)


def test_a_saved_library_has_the_text_and_needs_no_more(tmp_path: Path) -> None:
    program = compiled(PLAIN, plain())
    assert str(plain().source) in program.source
    path = program.save(tmp_path / "product.so")
    rng = np.random.default_rng(6)
    a, b = rng.random((13, 9)), rng.random((9, 17))
    assert_close(pm.load(path)(a, b), a @ b, roundings=50)


def test_another_text_is_another_program() -> None:
    twice = pm.Microkernel("block", str(plain().source).replace("+=", "+= 2 *"), Double, 6, 8)
    a, b = np.ones((6, 3)), np.ones((3, 8))
    assert compiled(PLAIN, plain())(a, b)[0, 0] == 3.0
    assert compiled(PLAIN, twice)(a, b)[0, 0] == 6.0


def test_calls_are_read_as_they_are_printed() -> None:
    for text in (PACKED, "[Par(i), R(i), R(j), R(k), U(i, 6), U(j, 8), V(j, 4), Call(block)]"):
        found = read_scheme(text)
        assert isinstance(found, Scheme)
        assert found.kernel == "block"
        assert str(found) == text
    routine = read_scheme("[fuse(D), Par(i), T(i, 64), Call(gemm)]")
    assert isinstance(routine, Scheme)
    assert routine.kernel is None


@pytest.mark.parametrize(
    ("scheme", "needs", "wrong", "hint"),
    [
        (PLAIN.replace("Call(block)", "Call(other)"), {}, "Call(other) names no microkernel", "are block"),
        (
            PLAIN.replace("U(i, 6)", "U(i, 4)"),
            {},
            "block has blocks of 6 x 8, and the scheme those of 4 x 8",
            "U(i, 6)",
        ),
        (PLAIN.replace("U(i, 6), U(j, 8)", "U(j, 6), U(i, 8)"), {"left": (1, None)}, "", ""),
        (PLAIN.replace("R(k), ", "").replace("[", "[R(k), "), {}, "no loop of a sum is right around", "R(k)"),
        (PLAIN.replace("U(i, 6)", "seq(i: 6 | 5)"), {}, "block has blocks of 6 x 8, and seq", "U(i, 6)"),
        (PLAIN.replace("U(i, 6)", "U(k, 6)"), {}, "block adds up all of k, and U or V some of it", "R(k)"),
        (PLAIN, {"left": (1, 6)}, "block needs a stride of 1 along i of A, which is not known", "pack(A"),
        (PACKED, {"left": (1, 5)}, "block needs a stride of 5 along k of A, which is 6", "pack(A"),
        (PLAIN.replace("]", ", R(i)]"), {}, "Call(block) is not the last atom", "outermost first"),
    ],
)
def test_what_does_not_fit_says_why(scheme: str, needs: dict[str, Any], wrong: str, hint: str) -> None:
    if not wrong:
        check(compiled(scheme, microkernel("block", Double, 6, 8, **needs)))
        return
    said = refused(scheme, plain(**needs))
    assert said[0].startswith(wrong)
    assert hint in said[1]


def test_a_microkernel_of_another_type_or_one_that_nobody_calls() -> None:
    single = microkernel("block", pm.Float, 6, 8)
    assert refused(PLAIN, single)[0].startswith("block is for float32, and C is float64\n")
    said = refused("[R(i), R(j), R(k)]", plain())
    assert "Options.microkernels has block, which no scheme calls" in said[0]


def test_names_are_those_of_one_thing() -> None:
    other = "Options.microkernels has A, a name that something else has"
    assert refused(PLAIN.replace("block", "A"), microkernel("A", Double, 6, 8))[0].count(other) == 1
    for name, kernels in (("product", (plain(), plain(depth=2))), ("block", (plain(),))):
        asked = pm.Options(scheme={"C": PLAIN}, microkernels=kernels)
        with pytest.raises(OptionError, match="has block, a name that something else has"):
            pm.compile((A @ B).named("C"), name=name, options=asked)


def test_batches_have_no_side_of_a_block() -> None:
    one, other = (pm.Image(Double, name, [M, K, N]) for name in "FG")
    l, i, j, k = (pm.Variable(Int, name) for name in "lijk")  # noqa: E741
    batch, row, summed = (pm.Interval(Int, 0, size - 1) for size in (M, K, N))
    out = pm.Reduction(([l, i, j], [batch, row, row]), ([l, i, j, k], [batch, row, row, summed]), Double, "C")
    out.defn = [pm.Reduce(out(l, i, j), one(l, i, k) * other(l, j, k), pm.Op.Sum)]
    scheme = "[R(i), R(l), R(j), R(k), U(l, 6), U(j, 8), Call(block)]"
    options = pm.Options(scheme={"C": scheme}, microkernels=(plain(),))
    with pytest.raises(OptionError, match="both operands move along l"):
        pm.compile(out, inputs=[one, other], options=options)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"name": "_pm_block"}, "not the name of a function in C"),
        ({"dtype": "int32"}, "Microkernel.dtype is 'int32', not float64 or float32"),
        ({"rows": 0}, "Microkernel.rows is 0, not an integer in 1 .. 4096"),
        ({"left": (1, 0)}, "Microkernel.left is (1, 0), not a pair of strides"),
        ({"result": (1, 1)}, "Microkernel.result is (1, 1): elements of 6 x 8 overlap"),
        ({"source": '# include "own.h"\nvoid block(void);'}, 'block has # include "own.h"'),
        ({"source": "int block;"}, "Microkernel.source has no function block"),
        ({"source": Path("/nowhere/block.c")}, "Microkernel.source of block: "),
    ],
)
def test_what_is_no_microkernel_says_why(given: dict[str, Any], wrong: str) -> None:
    usual = {"name": "block", "source": str(plain().source), "dtype": Double, "rows": 6, "columns": 8}
    with pytest.raises(OptionError) as told:
        pm.Microkernel(**{**usual, **given})
    assert wrong in str(told.value)
    assert told.value.location is not None


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("void block(int depth) {}", "conflicting types for .block."),
        ("void block(ptrdiff_t depth", "expected"),
    ],
)
def test_a_microkernel_that_does_not_compile_is_named(source: str, wrong: str) -> None:
    said = refused(PLAIN, pm.Microkernel("block", source, Double, 6, 8))[0]
    assert "the microkernel block does not compile" in said
    assert re.search(wrong, said)
