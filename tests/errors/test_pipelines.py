"""Programs that are wrong as a whole: the class, the whole text and the line of the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Image,
    Int,
    Interval,
    Long,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Variable,
    Vector,
)
from tests.errors.told import told

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
whole, inner = Interval(Int, 0, N - 1), Interval(Int, 1, N - 2)
x = Vector(Double, "x", [N])
DEFINED = "x has indices 0..N-1"
NARROW = "hint: narrow the interval, put the access under a Case or Select, or give constraints= on the sizes"


def function(name: str, *, over: Interval = whole, default: Any = None) -> Function:
    return Function(([i], [over]), Double, name, default)


def defined(name: str, value: Any) -> Function:
    f = function(name)
    f.defn = value
    return f


def total(name: str) -> Reduction:
    return Reduction(([], []), ([j], [whole]), Double, name)


def fails(error: type[pm.PolymatError], output: Any, **keywords: Any) -> str:
    def program() -> None:
        pm.compile(output, **keywords)

    return told(error, program)


def test_stencil_out_of_bounds() -> None:
    f = function("f")
    f.defn = x(i - 1) + x(i + 1)

    def program() -> None:
        pm.compile(f)

    assert told(pm.BoundsError, program) == (
        "f reads x(i - 1) outside x: at i = 0 with N = 1 this is x(-1), and " + DEFINED + "\n"
        "    f.defn = x(i - 1) + x(i + 1)\n" + NARROW
    )


def test_out_of_bounds_of_a_function() -> None:
    f, g = function("f", over=inner), function("g", over=inner)
    f.defn = x(i)
    g.defn = f(i + 1)
    assert fails(pm.BoundsError, g) == (
        "g reads f(i + 1) outside f: at i = 1 with N = 3 this is f(2), "
        "and f has indices 1..N-2\n"
        "    g.defn = f(i + 1)\n" + NARROW
    )


def test_out_of_bounds_of_a_result_without_a_name() -> None:
    f = function("f")
    f.defn = (x + x)(i + 1)
    assert fails(pm.BoundsError, f).splitlines()[0] == (
        "f reads (x + x)(i + 1) outside (x + x): at i = 0 with N = 1 this is (x + x)(1), "
        "and (x + x) has indices 0..N-1"
    )
    s = pm.Signal(Double, "s", N)
    assert fails(pm.BoundsError, s.down(2)[:3]).startswith(
        "s.down(2)[:3] reads s.down(2)(i) outside s.down(2): "
    )


def test_out_of_bounds_of_a_constant_extent() -> None:
    ten = Vector(Double, "ten", [10])
    f = Function(([i], [Interval(Int, 0, 9)]), Double, "f")
    f.defn = ten(2 * i)
    assert fails(pm.BoundsError, f).splitlines()[:2] == [
        "f reads ten(2*i) outside ten: at i = 5 this is ten(10), and ten has indices 0..9",
        "    f.defn = ten(2 * i)",
    ]


def test_out_of_bounds_in_one_branch_only() -> None:
    f = function("f")
    f.defn = Select(
        Condition(i, "<=", 2),
        x(i - 2),
        x(i - 1),
    )
    assert fails(pm.BoundsError, f).splitlines()[:2] == [
        f"f reads x(i - 2) outside x: at i = 0 with N = 1 this is x(-2), and {DEFINED}",
        "    x(i - 2),",
    ]


def test_reduction_into_what_it_does_not_have() -> None:
    r = Reduction(([i], [whole]), ([i, j], [whole, whole]), Double, "r")
    r.defn = [Reduce(r(i + j), x(j), Op.Sum)]
    assert fails(pm.BoundsError, r) == (
        "r accumulates into r(i + j) outside its domain: at i = 1, j = 1, N = 2 this is r(2), "
        "and r has indices 0..N-1\n"
        "    r.defn = [Reduce(r(i + j), x(j), Op.Sum)]"
    )


def test_negative_lower_bound_of_an_output() -> None:
    f = function("f", over=Interval(Int, -2, N))
    f.defn = 1.0
    assert fails(pm.BoundsError, f).splitlines() == [
        "the output f has the negative lower bound -2 for i: i = -2, N = 0",
        "    return Function(([i], [over]), Double, name, default)",
        "hint: the array of an output starts at index 0; shift the domain",
    ]
    assert pm.compile(defined("g", f(i)))(N=2).tolist() == [1.0, 1.0]


def test_cases_that_overlap() -> None:
    f = function("f")
    f.defn = [
        Case(Condition(i, "<=", 3), 1.0),
        Case(Condition(i, ">=", 3), 2.0),
    ]
    first, line, hint = fails(pm.CoverageError, f).splitlines()
    assert first == "two cases of f define the point i = 3 (with N = 4)"
    assert line == '    Case(Condition(i, ">=", 3), 2.0),'
    assert hint.startswith(f"hint: the other case is at {__file__}:")


def test_points_that_no_case_covers() -> None:
    f = function("f")
    f.defn = [Case(Condition(i, "<", 3), 1.0), Case(Condition(i, ">", 3), 2.0)]
    assert fails(pm.CoverageError, f) == (
        "no case of f defines the point i = 3 (with N = 4)\n"
        "    return Function(([i], [over]), Double, name, default)\n"
        "hint: add a Case, or give the function a default="
    )


def test_a_case_that_is_not_affine() -> None:
    f = function("f", default=0.0)
    f.defn = [Case(Condition(x(i), ">", 0.0), x(i))]
    assert fails(pm.NotAffineError, f) == (
        "not affine: x(i)\n"
        '    f.defn = [Case(Condition(x(i), ">", 0.0), x(i))]\n'
        "hint: the condition of a Case is affine in variables and sizes; use Select for values"
    )


def test_never_defined() -> None:
    f, g = function("f"), function("g")
    g.defn = f(i)
    expected = (
        "f is used but was never given a definition\n"
        "    return Function(([i], [over]), Double, name, default)\n"
        "hint: f.defn = [...]"
    )
    assert fails(pm.UndefinedError, g) == expected
    assert fails(pm.UndefinedError, [f]) == expected


def test_a_variable_of_another_function() -> None:
    f = function("f")
    f.defn = x(j)
    assert fails(pm.UndefinedError, f) == (
        "j is not a variable of this definition (its variables: i)\n    f.defn = x(j)"
    )
    g = function("g", default=0.0)
    g.defn = [Case(Condition(j, ">", 0), 1.0)]
    assert fails(pm.UndefinedError, g) == (
        "j is not a variable of this definition (its variables: i)\n"
        '    g.defn = [Case(Condition(j, ">", 0), 1.0)]'
    )
    r = total("r")
    r.defn = [Reduce(r(), x(i), Op.Sum)]
    assert fails(pm.UndefinedError, r).startswith("i is not a variable of this definition (its variables: j)")


def test_mixed_operations() -> None:
    r = total("r")
    r.defn = [Reduce(r(), x(j), Op.Sum), Reduce(r(), x(j), Op.Max)]
    assert fails(pm.LangError, r) == (
        "r mixes Op.Sum and Op.Max\n"
        "    r.defn = [Reduce(r(), x(j), Op.Sum), Reduce(r(), x(j), Op.Max)]\n"
        "hint: one operation a reduction"
    )


def _function_and_function() -> Any:
    return [defined("f", x(i)), defined("f", x(i))]


def _function_and_input() -> Any:
    return defined("x", x(i))


def _input_and_parameter() -> Any:
    n = Vector(Double, "N", [N])
    return defined("f", n(i))


def _function_and_parameter() -> Any:
    return defined("N", x(i))


def _two_types() -> Any:
    return defined("f", x(i) * Parameter(Double, "N"))


def _two_sizes() -> Any:
    return defined("f", x(i) + Vector(Double, "y", [Parameter(Long, "N")])(i))


def _two_inputs() -> Any:
    return defined("f", x(i) + Vector(Double, "x", [N])(i))


def _out() -> Any:
    return defined("f", Vector(Double, "out", [N])(i))


def _scalar_out() -> Any:
    return defined("f", x(i) * Parameter(Double, "out"))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (_function_and_function, "two things are named f: a Function and a Function, the first at "),
        (_function_and_input, "two things are named x: a Vector and a Function, the first at "),
        (_input_and_parameter, "two things are named N: a Vector and a Parameter, the first at "),
        (_function_and_parameter, "two things are named N: a Function and a Parameter, the first at "),
        (_two_types, "two parameters are named N: Int and Double\n"),
        (_two_sizes, "two parameters are named N: Int and Long\n"),
        (_two_inputs, "two things are named x: a Vector and a Vector, the first at "),
        (_out, "a Vector is named out, but out= of a call is the array for the output\n"),
        (_scalar_out, "a Parameter is named out, but out= of a call is the array for the output\n"),
    ],
)
def test_names_that_clash(program: Callable[[], Any], message: str) -> None:
    assert fails(pm.NameClashError, program()).startswith(message)


def test_too_many_dimensions() -> None:
    many = [Variable(Int, f"i{k}") for k in range(33)]
    f = Function((many, [Interval(Int, 0, 0)] * 33), Double, "f")
    f.defn = 1.0
    message = "the output f has 33 dimensions, an array has at most 32"
    assert fails(pm.ShapeError, f).splitlines()[0] == message

    def program() -> None:
        Image(Double, "im", [1] * 33)

    assert told(pm.ShapeError, program).splitlines()[0] == "im has 33 dimensions, an array has at most 32"


def test_definitions_that_are_too_large() -> None:
    value = x(i)
    for number in range(20_000):
        value = value + x(i) * number
    f = function("f")
    f.defn = value
    first, line, hint = fails(pm.LangError, f).splitlines()
    assert first.startswith("the definition of f is too large: written out it has ")
    assert line == "    f.defn = value"
    assert hint == "hint: at most 50000; give parts of it names, as functions of their own"


def test_conditions_that_are_too_deep() -> None:
    condition = Condition(i, "<", 3)
    for _ in range(5000):
        condition = condition | Condition(i, "<", 3)
    f = function("f", default=0.0)
    f.defn = [Case(condition, 1.0)]
    assert fails(pm.LangError, f).splitlines()[::2] == [
        "a definition in f is nested too deeply to compile",
        "hint: give parts of it names, as functions of their own",
    ]


def test_integers_too_large_to_compute_with() -> None:
    k = Variable(Long, "k")

    def index() -> None:
        x(k * 2**61 + k * 2**61)

    def bound() -> None:
        Interval(Int, 0, 2**62)

    def unfolded() -> None:
        x((k * 2**61 * 4) // 3)

    for program in (index, bound, unfolded):
        text = told(pm.NotAffineError, program)
        assert text.startswith("not affine: ")
        assert text.endswith(
            " is too large to compute with\n" + text.splitlines()[1] + "\nhint: integers below 2**62"
        )
