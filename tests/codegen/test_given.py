"""Functions of many parameters take a structure, which is filled where its values are known."""

import shutil
import subprocess
from collections.abc import Sequence

import pytest

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    File,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Structure,
    Subscript,
    names_in,
)
from polymat.codegen.c.render import unit
from polymat.codegen.fillers import GIVEN
from polymat.codegen.given import with_structures

ZERO, ONE = Literal("0"), Literal("1")
SIZE = "const ptrdiff_t"


def loop(variable: str, *body: Stmt, first: CExpr = ZERO, last: str = "N", pragma: str = "") -> For:
    below = CBinary("<", Id(variable), Id(last))
    return For(variable, first, below, ONE, body, (pragma,) if pragma else ())


def sums() -> CFunction:
    """Adds two arrays over a range."""
    values = [Subscript(Id(name), Id("i")) for name in "ABC"]
    added = Assign(values[2], "=", CBinary("+", values[0], values[1]))
    sources = tuple(CParameter("const double *restrict ", name) for name in "AB")
    target, unused = CParameter("double *restrict ", "C"), CParameter(SIZE, "unused")
    limits = (CParameter(SIZE, "begin"), CParameter(SIZE, "end"))
    parameters = (*sources, target, unused, *limits)
    body = (loop("i", added, first=Id("begin"), last="end"),)
    return CFunction("__attribute__((noinline)) void", "_pm_nest_sums", parameters, body)


def call(*names: str, begin: CExpr = ZERO, end: CExpr = ONE) -> Evaluate:
    return Evaluate(CCall("_pm_nest_sums", (*map(Id, names), Id("N"), begin, end)))


def caller(*body: Stmt) -> CFunction:
    arrays = tuple(CParameter("double *", name) for name in "xyzw")
    return CFunction("void", "caller", (*arrays, CParameter(SIZE, "N")), body, static=False)


def text_of(functions: Sequence[CFunction], structures: tuple[Structure, ...]) -> str:
    return unit(File("", frozenset(), (), tuple(functions), structures=structures), "#include <stddef.h>\n")


def made(*body: Stmt, most: int = 3) -> tuple[CFunction, CFunction, str]:
    functions, structures = with_structures((sums(), caller(*body)), most)
    return functions[0], functions[1], text_of(functions, structures)


def test_functions_of_few_parameters_stay() -> None:
    functions = (sums(), caller(call("x", "y", "z")))
    assert with_structures(functions, 6) == (functions, ())
    assert with_structures(functions, 6)[0] is functions


def test_values_that_last_are_handed_in_a_structure_outside_of_loops() -> None:
    tile = loop("t", loop("s", call("x", "y", "z", begin=Id("t"), end=CBinary("+", Id("t"), ONE))))
    nest, outside, text = made(tile, most=5)
    assert [each.name for each in nest.parameters] == [GIVEN, "begin", "end"]
    filled, loops = outside.body
    assert isinstance(filled, Declare)
    assert names_in([filled]) == {"x", "y", "z"}, "what is not used is not handed"
    assert isinstance(loops, For)
    assert "const double *restrict A;" in text
    assert "const double *restrict const A = _pm_args->A;" in text
    assert "_pm_nest_sums(&_pm_for_nest_sums, t, t + 1);" in text


def test_values_of_a_loop_are_handed_within_it() -> None:
    inner = Declare("double *const ", "own", CBinary("+", Id("x"), Id("t")))
    _, outside, _ = made(loop("t", inner, loop("s", call("own", "y", "z"))))
    (tile,) = outside.body
    assert isinstance(tile, For)
    assert [type(each) for each in tile.body] == [Declare, Declare, For]


def test_values_that_change_are_handed_at_the_call() -> None:
    moving = Declare("double *", "at", Id("x"))
    step = Assign(Id("at"), "+=", ONE)
    _, outside, _ = made(moving, loop("t", step, Block((call("at", "y", "z"),))))
    (within,) = [each for each in outside.body if isinstance(each, For)]
    block = within.body[1]
    assert isinstance(block, Block)
    assert [type(each) for each in block.body] == [Declare, Evaluate]


def test_values_that_change_between_two_calls_are_handed_twice() -> None:
    first, moving = call("at", "y", "z"), Declare("double *", "at", Id("x"))
    _, outside, text = made(moving, first, Assign(Id("at"), "+=", ONE), first)
    assert [type(each) for each in outside.body] == [Declare, Declare, Evaluate, Assign, Declare, Evaluate]
    assert text.index("_pm_for_nest_sums_2 = {at, y, z}") > text.index("at += 1")
    assert text.index("(&_pm_for_nest_sums, 0, 1)") < text.index("(&_pm_for_nest_sums_2, 0, 1)")


def test_values_without_names_are_handed_at_each_call() -> None:
    element = Evaluate(CCall("_pm_nest_sums", (Subscript(Id("w"), ZERO), Id("y"), Id("z"), *[ONE] * 3)))
    change = Assign(Subscript(Id("w"), ZERO), "=", Id("x"))
    _, outside, _ = made(element, change, element, most=1)
    assert [type(each) for each in outside.body] == [Declare, Evaluate, Assign, Declare, Evaluate]


def test_what_has_its_address_taken_is_no_value_that_lasts() -> None:
    place = Evaluate(CCall("move", (CUnary("&", Id("at")),)))
    _, outside, _ = made(Declare("double *", "at", Id("x")), loop("t", place, call("at", "y", "z")))
    (within,) = [each for each in outside.body if isinstance(each, For)]
    assert [type(each) for each in within.body] == [Evaluate, Declare, Evaluate]


def test_names_of_inner_scopes_are_other_variables() -> None:
    """`own` of one branch is not that of the other, nor that of the function."""
    one = Declare("double *const ", "own", Id("x"))
    other = Declare("double *const ", "own", Id("w"))
    branches = If(Id("N"), (one, call("own", "y", "z")), (other, call("own", "y", "z")))
    _, outside, _ = made(Block((branches,)))
    (block,) = outside.body
    assert isinstance(block, Block)
    (choice,) = block.body
    assert isinstance(choice, If)
    for branch in (choice.then, choice.otherwise):
        assert [type(each) for each in branch] == [Declare, Declare, Evaluate]


def test_calls_with_the_same_values_share_a_structure_and_others_have_their_own() -> None:
    _, outside, text = made(call("x", "y", "z"), call("x", "y", "z", end=Id("N")), call("x", "y", "w"))
    assert [type(each) for each in outside.body].count(Declare) == 2
    assert "(&_pm_for_nest_sums, 0, N)" in text
    assert "(&_pm_for_nest_sums_2, 0, 1)" in text


def test_values_that_do_not_last_stay_arguments_where_there_may_be_as_many() -> None:
    inner = Declare("double *const ", "own", CBinary("+", Id("x"), Id("t")))
    nest, outside, _ = made(loop("t", inner, call("own", "y", "z")), most=4)
    assert [each.name for each in nest.parameters] == [GIVEN, "A", "begin", "end"]
    assert [type(each) for each in outside.body] == [Declare, For]


def test_values_without_names_are_handed_where_nothing_else_is_left() -> None:
    values = (CBinary("+", Id(name), ONE) for name in "xyz")
    shifted = Evaluate(CCall("_pm_nest_sums", (*values, Id("N"), ZERO, ONE)))
    nest, outside, _ = made(loop("t", shifted), most=3)
    assert [each.name for each in nest.parameters] == [GIVEN]
    assert isinstance(outside.body[0], For)


def test_parameters_that_are_assigned_can_still_be() -> None:
    body = (Assign(Id("begin"), "+=", ONE), *sums().body)
    limits = (CParameter("ptrdiff_t", "begin"), CParameter(SIZE, "end"))
    nest = CFunction("void", "_pm_nest_sums", (*sums().parameters[:4], *limits), body)
    functions, structures = with_structures((nest, caller(call("x", "y", "z"))), 2)
    assert "    ptrdiff_t begin = _pm_args->begin;\n" in text_of(functions, structures)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_gcc_still_knows_that_arrays_do_not_overlap() -> None:
    """Loops are vectorised without a second version for arrays that do."""
    _, _, text = made(call("x", "y", "z", end=Id("N")))
    command = ["gcc", "-O3", "-fopt-info-vec", "-x", "c", "-", "-c", "-o", "/dev/null", "-Wall", "-Werror"]
    told = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stderr
    assert "loop vectorized" in told
    assert "possible aliasing" not in told
    plain = subprocess.run(
        command, input=text.replace("restrict ", ""), capture_output=True, text=True, check=True
    )
    assert "possible aliasing" in plain.stderr
