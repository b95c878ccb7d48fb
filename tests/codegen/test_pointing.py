"""Parts of a function leave no pointers to variables that end with them."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import polymat as pm
from polymat.codegen import functionlimits
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CUnary,
    Declare,
    Evaluate,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.pointing import KnownName, leaves_pointers
from polymat.codegen.shortened import in_parts
from tests.tolerance import assert_close

ARRAY = Declare("_Alignas(64) double", "local[9]")
PLACE, TABLE = {"place": KnownName("double *")}, {"table": KnownName("double *", is_array=True)}
THAT = Declare("double *const ", "that", Id("this"))
ONE = Literal("1")


def pointer(name: str, value: CExpr) -> Declare:
    return Declare("double *const ", name, value)


TAKEN = pointer("a", CCall("memory", (Id("n"),)))


@pytest.mark.parametrize(
    ("statements", "before", "left"),
    [
        ((ARRAY, pointer("a", Id("local"))), {}, ("a",)),
        ((ARRAY, pointer("a", CBinary("+", Id("local"), ONE))), {}, ("a",)),
        ((ARRAY, pointer("this", Id("local")), THAT), {}, ("that",)),
        ((Declare("double", "x", ONE), pointer("a", CUnary("&", Id("x")))), {}, ("a",)),
        ((ARRAY, pointer("a", CCall("larger", (Id("local"), Id("place"))))), PLACE, ("a",)),
        ((ARRAY, Block((Assign(Id("place"), "=", Id("local")),))), PLACE, ()),
        ((ARRAY, Assign(Subscript(Id("table"), ONE), "=", Id("local"))), TABLE, ()),
        ((ARRAY, Evaluate(CCall("set", (Id("local"), CUnary("&", Id("place")))))), PLACE, ()),
    ],
)
def test_pointers_that_are_left(
    statements: tuple[Stmt, ...], before: dict[str, KnownName], left: tuple[str, ...]
) -> None:
    assert leaves_pointers(statements, before, left)


@pytest.mark.parametrize(
    ("statements", "before", "left"),
    [
        ((ARRAY, pointer("a", Id("local")), Evaluate(CCall("run", (Id("a"), Id("place"))))), PLACE, ()),
        ((pointer("a", Id("place")),), PLACE, ("a",)),
        ((Declare("size_t", "n", ONE), Evaluate(CCall("add", (CUnary("&", Id("n")),))), TAKEN), {}, ("a",)),
        ((ARRAY, Declare("const double", "x", Subscript(Id("local"), ONE))), {}, ("x",)),
        ((ARRAY, Assign(Subscript(Id("place"), ONE), "=", Subscript(Id("local"), ONE))), PLACE, ()),
    ],
)
def test_what_may_be_left(
    statements: tuple[Stmt, ...], before: dict[str, KnownName], left: tuple[str, ...]
) -> None:
    assert not leaves_pointers(statements, before, left)


def test_arrays_stay_where_their_pointers_are_used() -> None:
    numbers = range(12)
    body: list[Stmt] = []
    for k in numbers:
        body += [Declare("double", f"local{k}[4]"), pointer(f"a{k}", Id(f"local{k}"))]
    body += [Evaluate(CCall("run", (Id(f"a{k}"),))) for k in numbers]
    functions, structures = in_parts(CFunction("void", "_pm_entry", (), tuple(body), runs_others=True), 20)
    assert len(functions) > 1
    assert structures == ()
    assert {each.returns for each in functions} == {"void"}


def program(count: int) -> pm.Function:
    """So many vectors, all of which the last one reads."""
    n, i = 16, pm.Variable(pm.Int, "i")
    x = pm.Vector(pm.Double, "x", [n])
    domain = ([i], [pm.Interval(pm.Int, 0, n - 1)])
    made: list[pm.Function] = []
    for k in range(count):
        each = pm.Function(domain, pm.Double, f"t{k}")
        each.defn = [x(n - 1 - i) * float(k + 1) + (made[-1](n - 1 - i) / 2.0 if made else x(i))]
        made.append(each)
    last = pm.Function(domain, pm.Double, "last")
    total = made[0](i)
    for each in made[1:]:
        total = total + each(n - 1 - i) * each(i)
    last.defn = [total]
    return last


def test_many_temporaries_on_the_stack() -> None:
    options = pm.Options(threads=1, inline=False, fuse=False)
    compiled = pm.compile(program(40), name="stacked", options=options)
    assert len(re.findall(r"_pm_local_t\d+\[", compiled.source)) == 80
    assert re.search(r"_pm_entry_part1\(", compiled.source)
    x = np.random.default_rng(3).standard_normal(16)
    assert_close(compiled(x), compiled.reference(x), roundings=200)


def random_program(rng: random.Random, count: int) -> list[pm.Function]:
    """So many vectors of a few types, each of the one before it and others: three of them."""
    n, i = 16, pm.Variable(pm.Int, "i")
    x = pm.Vector(pm.Double, "x", [n])
    made: list[pm.Function] = []
    for k in range(count):
        dtype = rng.choice((pm.Double, pm.Double, pm.Float))
        each = pm.Function(([i], [pm.Interval(pm.Int, 0, n - 1)]), dtype, f"t{k}")
        value = x(rng.choice((i, n - 1 - i))) * (k + 1.5)
        for other in dict.fromkeys((*made[-1:], *rng.sample(made, min(len(made), 2)))):
            value = value + other(rng.choice((i, n - 1 - i))) / rng.choice((2.0, 3.0, -4.0))
        each.defn = [pm.Cast(dtype, value)]
        made.append(each)
    return [made[count // 2], made[-2], made[-1]]


@pytest.mark.parametrize("lines", [9, 12, 20, 36])
def test_random_temporaries_on_the_stack(seed: int, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In functions of few lines and few arguments."""
    rng = random.Random(1000 * seed + lines)
    for name, value in (("MOST_LINES", lines), ("MOST_ARGUMENTS", 3 + lines % 5), ("SHORTER", ())):
        monkeypatch.setattr(functionlimits, name, value)
    options = pm.Options(threads=1, inline=False, fuse=False, cflags=("-O1",))
    compiled = pm.compile(random_program(rng, rng.randint(20, 50)), name="stacked", options=options)
    assert len(re.findall(r"_pm_local_t\d+\[", compiled.source)) > 10
    assert len(re.findall(r"^static .*_part\d+\(", compiled.source, re.MULTILINE)) >= 2
    x = np.random.default_rng(3).standard_normal(16)
    for found, wanted in zip(compiled(x), compiled.reference(x), strict=True):
        assert_close(found, wanted, roundings=500, magnitude=float(np.abs(wanted).max()))
