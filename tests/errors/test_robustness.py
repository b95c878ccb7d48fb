"""Whatever is passed wherever, only errors of polymat's own tree come out, and their texts can be shown."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Op


class Lookalike:
    """Has some of the attributes that polymat's own objects have, with other things in them."""

    label = 3
    rank = "two"
    name = None
    dtype = "float64"


class Labelled:
    label = "a curve"


def endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _plain_values() -> list[Any]:
    return [
        *(None, True, False, 0, -1, 1, 7, 10**30, 2**63, -(2**63), 2**31),
        *(0.0, 2.5, -1e300, math.nan, math.inf, -math.inf, 1j, complex(math.nan, 0)),
        *("x", "", "a" * 100, "int", "naïve", "a\nb", b"x", bytearray(b"x")),
        *([], (), {}, set(), [None], [[1]], {"a": 1}, {1: 2}, frozenset({1}), endless(), range(3)),
        *(object(), int, float, len, lambda: 0, Ellipsis, NotImplemented, slice(1, 2), math),
        *(fractions.Fraction(1, 2), decimal.Decimal(1), datetime.date(2020, 1, 1), Exception("x")),
        *(np.float64(1), np.int64(3), np.int8(3), np.uint64(2**63), np.float16(1), np.longdouble(1)),
        *(np.bool_(True), np.str_("q"), np.datetime64("2020"), np.dtype("f8"), np.float64, np.nan),
        *(np.array(3), np.array([1, 2]), np.zeros((2, 2)), np.array([None]), np.zeros(0)),
        *(Lookalike(), Labelled(), (k for k in range(3))),
    ]


@dataclass(frozen=True)
class World:
    """A few of everything the language has."""

    N: pm.Parameter
    alpha: pm.Parameter
    i: pm.Variable
    j: pm.Variable
    I: pm.Interval  # noqa: E741
    A: pm.Matrix
    x: pm.Vector
    image: pm.Image
    s: pm.Signal
    f: pm.Function
    undefined: pm.Function
    r: pm.Reduction
    where: pm.Condition
    case: Any
    reduce: Any
    value: Any

    def everything(self) -> list[Any]:
        own = [getattr(self, item.name) for item in fields(self)]
        made = [self.f(self.i), pm.dot(self.x, self.x), self.x + self.x, self.A.T, self.s + self.s]
        return [*own, *made, Double, Int, Op.Sum, pm.Options()]


def world() -> World:
    N, i, j = pm.Parameter(Int, "N"), pm.Variable(Int, "i"), pm.Variable(Int, "j")
    whole = pm.Interval(Int, 0, N - 1)
    A, x = pm.Matrix(Double, "A", [N, N]), pm.Vector(Double, "x", [N])
    f = pm.Function(([i], [whole]), Double, "f")
    f.defn = [x(i)]
    r = pm.Reduction(([i], [whole]), ([i, j], [whole, whole]), Double, "r")
    reduce = pm.Reduce(r(i), A(i, j), Op.Sum)
    r.defn = [reduce]
    where = pm.Condition(i, "<", 3)
    return World(
        N=N,
        alpha=pm.Parameter(Double, "alpha"),
        i=i,
        j=j,
        I=whole,
        A=A,
        x=x,
        image=pm.Image(Double, "image", [N, N, N]),
        s=pm.Signal(Double, "s", N),
        f=f,
        undefined=pm.Function(([i], [whole]), Double, "g"),
        r=r,
        where=where,
        case=pm.Case(where, 1.0),
        reduce=reduce,
        value=x(i) + 1,
    )


@dataclass(frozen=True)
class Use:
    """A call that is right with these arguments."""

    name: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...]


def _declarations(w: World) -> list[Use]:
    domain, both = ([w.i], [w.I]), ([w.i, w.j], [w.I, w.I])
    return [
        Use("Parameter", pm.Parameter, (Int, "P")),
        Use("Variable", pm.Variable, (Int, "k")),
        Use("Interval", pm.Interval, (Int, 0, w.N - 1)),
        Use("Function", pm.Function, (domain, Double, "h", 1.0)),
        Use("Function's domain", lambda a, b: pm.Function((a, b), Double, "h"), domain),
        Use("Function's dimension", lambda a, b: pm.Function(([a], [b]), Double, "h"), (w.i, w.I)),
        Use("Reduction", pm.Reduction, (domain, both, Double, "h", 1.0)),
        Use("Matrix", pm.Matrix, (Double, "B", [w.N, w.N])),
        Use("Matrix's extents", lambda a, b: pm.Matrix(Double, "B", [a, b]), (w.N, w.N)),
        Use("Vector", pm.Vector, (Double, "y", [w.N])),
        Use("Image", pm.Image, (Double, "y", [w.N])),
        Use("Signal", pm.Signal, (Double, "y", w.N)),
        Use("Condition", pm.Condition, (w.i, "<", w.N)),
        Use("Case", pm.Case, (w.where, 1.0)),
        Use("Select", pm.Select, (w.where, 1.0, w.value)),
        Use("Cast", pm.Cast, (Double, w.value)),
        Use("Reduce", pm.Reduce, (w.r(w.i), w.value, Op.Sum)),
        Use("Min", pm.Min, (w.value, 1.0, 2)),
        Use("Max", pm.Max, (w.value, 1.0, 2)),
        Use("Pow", pm.Pow, (w.value, 2)),
        Use("Atan2", pm.Atan2, (w.value, 2)),
        Use("Hypot", pm.Hypot, (w.value, 2)),
        Use("Clamp", pm.Clamp, (w.value, 1.0, 2)),
        *(Use(name, getattr(pm, name), (w.value,)) for name in _SCALAR_FUNCTIONS),
    ]


_SCALAR_FUNCTIONS = (
    *("Abs", "Acos", "Asin", "Atan", "Ceil", "Conj", "Cos", "Cosh", "Exp", "Floor"),
    *("Imag", "Log", "Real", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"),
    *("Acosh", "Asinh", "Atanh", "Cbrt", "Erf", "Exp2", "Expm1", "IsNaN", "Log1p", "Log2", "Log10", "Round"),
    "Sigmoid",
)


def _define(entries: Any) -> None:
    w = world()
    w.undefined.defn = entries


def _define_reduction(entries: Any) -> None:
    w = world()
    r = pm.Reduction(([w.i], [w.I]), ([w.i, w.j], [w.I, w.I]), Double, "r2")
    r.defn = entries


def _algebra(w: World) -> list[Use]:
    A, x, s = w.A, w.x, w.s
    return [
        Use("transpose", pm.transpose, (A,)),
        Use("elementwise_mul", pm.elementwise_mul, (A, A)),
        Use("scalar_mul", pm.scalar_mul, (A, 2.0)),
        Use("dot", pm.dot, (x, x)),
        Use("outer", pm.outer, (x, x)),
        Use("gemm", pm.gemm, (A, A, A, 1.0, 2.0)),
        Use("symm", pm.symm, (A, A, A, w.N, w.N, 1.0, 1.0)),
        Use("syrk", pm.syrk, (A, A, 1.0, 1.0)),
        Use("syr2k", pm.syr2k, (A, A, A, 1.0, 1.0)),
        Use("trmm", pm.trmm, (A, A, 1.0, 1.0)),
        Use("named", (x + x).named, ("q",)),
        Use("slice", lambda a, b, c: s[a:b:c], (0, 3, 1)),
        Use("down", s.down, (2,)),
        Use("up", s.up, (2,)),
        Use("fir", s.fir, ([1, 2.0], "valid")),
        Use("a tap", lambda tap: s.fir([tap, 1.0]), (1.0,)),
        Use("access", A, (w.i, w.j)),
        Use("defn", _define, ([1.0],)),
        Use("defn's entry", lambda entry: _define([entry]), (1.0,)),
        Use("defn's case", lambda value: _define([pm.Case(w.where, value)]), (1.0,)),
        Use("a reduction's defn", _define_reduction, ([w.reduce],)),
        Use("a reduction's entry", lambda entry: _define_reduction([entry]), (w.reduce,)),
        Use("a reduction's case", lambda e: _define_reduction([pm.Case(w.where, e)]), (w.reduce,)),
    ]


def _compilations(w: World) -> list[Use]:
    def keyword(word: str, right: Any) -> Use:
        return Use(f"{word}=", lambda value: pm.compile(w.f, **{word: value}), (right,))

    def option(name: str) -> Use:
        def call(value: Any) -> pm.Compiled:
            return pm.compile(w.f, options=pm.Options(**{name: value}))

        return Use(f"Options.{name}", call, (getattr(pm.Options(), name),))

    return [
        Use("compile", pm.compile, (w.f,)),
        Use("an output", lambda output: pm.compile([output]), (w.f,)),
        keyword("name", "pipeline"),
        keyword("inputs", [w.x]),
        keyword("estimates", {w.N: 10}),
        keyword("sizes", {w.N: 10}),
        keyword("constraints", [pm.Condition(w.N, ">", 1)]),
        keyword("trim", True),
        keyword("options", pm.Options()),
        Use("an input", lambda item: pm.compile(w.f, inputs=[w.x, item]), (w.alpha,)),
        Use("a size", lambda size: pm.compile(w.f, sizes={w.N: size}), (3,)),
        Use("an estimate", lambda size: pm.compile(w.f, estimates={w.N: size}), (3,)),
        Use("a constraint", lambda c: pm.compile(w.f, constraints=[c]), (pm.Condition(w.N, ">", 3),)),
        Use("a limit", lambda n: pm.compile(w.f, constraints=[pm.Condition(w.N, ">", n)]), (3,)),
        *(option(item.name) for item in fields(pm.Options)),
        Use("set_num_threads", pm.set_num_threads, (pm.get_num_threads(),)),
        Use("threads", pm.threads, (2,)),
        Use("load", pm.load, ("nothing.json",)),
    ]


WORLD = world()
USES = [*_declarations(WORLD), *_algebra(WORLD), *_compilations(WORLD)]


@pytest.fixture(autouse=True)
def _same_threads() -> Any:
    before = pm.get_num_threads()
    yield
    pm.set_num_threads(before)


def escaped(use: Use, arguments: list[Any]) -> str:
    """What came out of a call, if it is nothing that polymat may raise."""
    try:
        use.call(*arguments)
    except pm.InternalError as error:
        return f"InternalError {error}"
    except pm.PolymatError as error:
        return "" if str(error) and error.message else f"{type(error).__name__} without a text"
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return ""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("use", [pytest.param(use, id=use.name) for use in USES])
def test_every_position_takes_everything(use: Use) -> None:
    found = []
    for position in range(len(use.arguments)):
        for value in (*_plain_values(), *world().everything()):
            arguments = list(use.arguments)
            arguments[position] = value
            text = escaped(use, arguments)
            if text:
                found.append(f"argument {position} = {type(value).__name__}: {text}")
    assert not found


def test_several_wrong_arguments_at_once(seed: int) -> None:
    draw = random.Random(seed)
    several = [use for use in USES if len(use.arguments) > 1]
    values = [*_plain_values(), *WORLD.everything()]
    found = []
    for _ in range(1500):
        use = draw.choice(several)
        arguments = [draw.choice(values) if draw.random() < 0.6 else right for right in use.arguments]
        text = escaped(use, arguments)
        if text:
            found.append(f"{use.name}: {text}")
    assert not found


def test_wrong_numbers_of_arguments_are_python_errors() -> None:
    with pytest.raises(TypeError):
        pm.Parameter(Int)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        pm.compile(WORLD.f, nmae="f")  # type: ignore[call-overload]
