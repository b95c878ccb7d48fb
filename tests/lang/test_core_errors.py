"""What inputs, functions, reductions and expressions refuse when they are described."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from tests.lang.refusals import Refusal, table

N = pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
whole = pm.Interval(pm.Int, 0, N - 1)
x = pm.Vector(pm.Double, "x", [N])
SCOPE = {name: getattr(pm, name) for name in pm.__all__}
SCOPE |= {"np": np, "N": N, "i": i, "j": j, "W": whole, "x": x, "alpha": pm.Parameter(pm.Double, "alpha")}
SCOPE |= {
    "f": pm.Function(([i], [whole]), pm.Double, "f"),
    "u": pm.Function(([i], [whole]), pm.UChar, "u"),
    "r": pm.Reduction(([], []), ([i], [whole]), pm.Double, "r"),
    "z": pm.Vector(pm.Complex, "z", [N]),
}

DECLARATIONS = """
Parameter(float, "N")
DtypeError: a Parameter needs an element type, got <class 'float'>
hint: pm.Double

Variable(Double, "i")
DtypeError: a Variable is an integer, got Double

Interval(Double, 0, N)
DtypeError: an Interval is of integers, got Double

Interval(Int, 0, alpha)
NotAffineError: not affine: the parameter alpha is a Double, not an integer
hint: Parameter(Int, "alpha") where it is a size

Interval(Int, 0, x(i))
NotAffineError: not affine: x(i)
hint: an index is an integer: Cast(Int, ...), ...

Vector(Double, "q", N)
ShapeError: the extents of q are a list, got Parameter(Int, 'N')
hint: [M, N]

Vector(Double, "q", "N")
ShapeError: the extents of q are a list, got 'N'
hint: [M, N]

Vector(Double, "q", [-1])
ShapeError: q has a negative extent -1

Vector(Double, "q", [2.5])
NotAffineError: not affine: 2.5 is not an integer
hint: indices, bounds and case conditions are ...

Matrix(Double, "q", [[1], [2]])
LangError: expected a number or an expression, got list [1]

Vector("double", "q", [N])
DtypeError: a Vector needs an element type, got 'double'
hint: pm.Double

Function([i], Double, "g")
LangError: the domain of g is ([variables], [intervals]), got [Variable(Int, 'i')]

Function(None, Double, "g")
LangError: the domain of g is ([variables], [intervals]), got None

Function(([i], [3]), Double, "g")
LangError: the domain of g has 3 for an Interval
hint: Interval(Int, 0, 2): both ends belong to it

Function(([i], [range(10)]), Double, "g")
LangError: the domain of g has range(0, 10) for an Interval
hint: Interval(Int, 0, 9): both ends belong to it

Function(([i], [N]), Double, "g")
LangError: the domain of g has Parameter(Int, 'N') for an Interval
hint: Interval(Int, 0, N - 1): both ends belong to it

Function(([i, j], [W]), Double, "g")
ShapeError: g has 2 variables and 1 interval

Function(([i, i], [W, W]), Double, "g")
NameClashError: two variables of g are named i

Function(([i, j], [Interval(Int, 0, j), W]), Double, "g")
NotAffineError: the bounds of i in g use j, which does not come before it
hint: bounds may use sizes and the variables before in the same domain
"""

EXPRESSIONS = """
x(i, j)
ShapeError: x has 1 dimension, got 2 indices

x(x(i))
NotAffineError: not affine: x(i)
hint: an index is an integer: Cast(Int, ...), and Clamp(..., 0, N - 1) where it may be outside

x(i * N)
NotAffineError: not affine: i * N
hint: indices, bounds and case conditions are ...

x(1.0)
NotAffineError: not affine: 1.0 is not an integer
hint: indices, bounds and case conditions are ...

x(None)
LangError: expected a number or an expression, got NoneType None

x(x)
LangError: x stands in an expression without indices
hint: index it: x(i)

x(i) + x
LangError: x(i) + x: x(i) is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

x(i) + f
LangError: x(i) + f: x(i) is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

x(i) + np.ones(3)
LangError: expected a number or an expression, got ndarray array([1., 1., 1.])
hint: declare an input for the array: Vector, Matrix or Image

Sin([1])
LangError: expected a number or an expression, got list [1]

x(i) < x(j)
LangError: expressions are not compared with <
hint: Condition(a, "<", b); Min(a, b) and Max(a, b) for the smaller and the larger of two

min(x(i), 0)
LangError: expressions are not compared with >
hint: Condition(a, ">", b); Min(a, b) and Max(a, b) for the smaller and the larger of two

x(i) if x(i) else 0
LangError: an expression has no truth value while the pipeline is being described
hint: use Condition(i, "<", N) in a Case or a Select

Condition(i, "<", N) and Condition(i, ">", 0)
LangError: i < N has no truth value while the pipeline is being described
hint: a Case or a Select chooses by it; combine conditions with & and |, not with and, or, not

Condition(i, "=<", N)
LangError: unknown comparison '=<'
hint: one of < <= > >= == !=

Condition(i, [], N)
LangError: a comparison is a string, got []
hint: one of < <= > >= == !=

Condition(i, "<", N) & True
LangError: & combines conditions, got True

Condition(z(i), "<", 0)
DtypeError: complex values have no order: <

z(i) // 2
DtypeError: // is not defined for complex values

Floor(z(i))
DtypeError: floor is not defined for complex values

Cast(Double, z(i))
DtypeError: a complex value cannot be cast to Double
hint: Real(x) or Abs(x)

Cast("Double", x(i))
DtypeError: Cast needs an element type, got 'Double'
hint: one of ...

Select(True, 1, 2)
LangError: Select needs a Condition, got bool
hint: Condition(i, "==", 0), say

Case(i, x(i))
LangError: Case needs a Condition, got Variable
hint: Condition(i, "==", 0), say

Case(i == 0, x(i))
LangError: Case needs a Condition, got bool
hint: Condition(i, "==", 0), say

x(i) + 2**64
DtypeError: the integer 18446744073709551616 does not fit 64 bits
"""

DEFINITIONS = """
f.defn = [Case(Condition(i, "<", 1), Case(Condition(i, ">", 0), x(i)))]
LangError: expected a number or an expression, got CaseEntry Case(i > 0, x(i))
hint: a Case is an entry of a definition: f.defn = [Case(...), ...]

f.defn = []
LangError: the definition of f is empty

f.defn = [x]
LangError: x stands in an expression without indices
hint: index it: x(i)

f.defn = [z(i)]
DtypeError: f is Double but its definition is Complex
hint: Real(...) or Abs(...) if the loss is meant

u.defn = [z(i)]
DtypeError: u is UChar but its definition is Complex
hint: Cast(UChar, Real(...)) if the loss is meant

u.defn = [300]
DtypeError: the integer 300 does not fit u, a UChar

u.defn = [x(i)]
DtypeError: u is UChar but its definition is Double
hint: Cast(UChar, ...) if the loss is meant

u.defn = [1.5]
DtypeError: u is UChar but its definition is float literal
hint: Cast(UChar, ...) if the loss is meant

r.defn = [x(i)]
LangError: the definition of the reduction r holds Reduce(...) entries

r.defn = [Reduce(f(i), x(i), Op.Sum)]
LangError: r is defined by a Reduce into f

Reduce(f, x(i), Op.Sum)
LangError: the first argument of Reduce is the reduction at its indices
hint: C(i, j)

Reduce(r(), x(i), "+")
LangError: the third argument of Reduce is Op.Sum, Mul, Min, Max, ArgMin, ArgMax, Any, All or Count, got '+'
"""


@pytest.mark.parametrize("refusal", table(DECLARATIONS) + table(EXPRESSIONS) + table(DEFINITIONS))
def test_refusal(refusal: Refusal) -> None:
    refusal.check(SCOPE)


def test_second_definition_names_the_first() -> None:
    g = pm.Function(([i], [whole]), pm.Double, "g")
    g.defn = [x(i)]
    g.defn = [x(i) + 1]  # a cell of a notebook that ran again
    assert pm.compile(g)(np.zeros(3)).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(pm.NameClashError, match="g is defined a second time, after a pipeline was") as caught:
        g.defn = [x(i) + 2]
    assert __file__ in caught.value.hint


def test_a_definition_that_did_not_compile_may_be_mended() -> None:
    g = pm.Function(([i], [whole]), pm.Double, "g")
    g.defn = [x(i + 1)]
    with pytest.raises(pm.BoundsError):
        pm.compile(g)
    g.defn = [x(i)]
    assert pm.compile(g)(np.arange(3.0)).tolist() == [0.0, 1.0, 2.0]


def test_a_size_and_a_variable_of_one_name_clash() -> None:
    n = pm.Variable(pm.Int, "N")
    with pytest.raises(pm.NameClashError, match="N is both a size and a variable of g"):
        pm.Function(([n], [whole]), pm.Double, "g")


def test_mixed_reductions_are_refused() -> None:
    r = pm.Reduction(([], []), ([i], [whole]), pm.Double, "r")
    r.defn = [pm.Reduce(r(), x(i), pm.Op.Sum), pm.Reduce(r(), x(i), pm.Op.Max)]
    with pytest.raises(pm.LangError, match=r"r mixes Op\.Sum and Op\.Max"):
        _ = r.op


def test_complex_values_have_no_maximum() -> None:
    r = pm.Reduction(([], []), ([i], [whole]), pm.Complex, "r")
    with pytest.raises(pm.DtypeError, match=r"Op\.Max has no meaning for complex values"):
        r.defn = [pm.Reduce(r(), x(i), pm.Op.Max)]


def test_bool_parameters_do_not_exist() -> None:
    with pytest.raises(pm.DtypeError, match="a Parameter needs an element type, got <class 'bool'>"):
        pm.Parameter(bool, "flag")  # type: ignore[arg-type]
    with pytest.raises(pm.LangError, match="got bool True"):
        x(i) * True


def test_uncompiled_functions_called_with_arrays() -> None:
    with pytest.raises(
        pm.LangError, match=r"f is no compiled pipeline, and was called with arrays"
    ) as refused:
        SCOPE["f"](np.ones(3))
    assert refused.value.hint == "compile it: run = pm.compile(f), then run(...)"
    with pytest.raises(pm.LangError, match=r"f is no compiled pipeline, and was called with x="):
        SCOPE["f"](x=np.ones(3))
    with pytest.raises(pm.LangError, match=r"hint: x is an input: pm.compile\(\) what is computed from it"):
        SCOPE["x"](np.ones(3))


def test_a_stage_without_dimensions_has_no_place_to_name() -> None:
    first = pm.Function(([], []), pm.Double, "first")
    first.defn = [x(0)]
    with pytest.raises(pm.BoundsError, match=r"outside x: with N = 0 this is x\(0\)"):
        pm.compile(first)


def test_numpys_functions_are_blamed_on_who_calls_them() -> None:
    with pytest.raises(pm.LangError) as refused:
        np.sum(x, axis="rows")  # type: ignore[call-overload]
    assert refused.value.location is not None
    assert refused.value.location.file == __file__
