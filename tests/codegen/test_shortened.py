"""Long functions become several: what crosses from one to another keeps its value."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

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
    Return,
    Stmt,
    Subscript,
)
from polymat.codegen.c.freenames import free_names, with_values
from polymat.codegen.c.render import function_text, unit
from polymat.codegen.partruns import best_run
from polymat.codegen.shortened import in_parts, is_parted

ONE, N, TOTAL = Literal("1"), Id("N"), Id("total")
# Stops at 3, counts in memory, and returns what a part might have forgotten.
HARNESS = """
#include <stddef.h>
#include <stdio.h>
static size_t take(size_t *bytes, size_t more) { size_t at = *bytes; *bytes += more; return at; }
"""
MAIN = 'int main(void) { for (int n = 0; n < 9; n++) { printf("%d ", _pm_entry(n)); } return 0; }'


def add(value: CExpr) -> Stmt:
    return Assign(TOTAL, "+=", value)


def taken(name: str, more: CExpr) -> Declare:
    return Declare("const size_t", name, CCall("take", (CUnary("&", Id("bytes")), more)))


def entry() -> CFunction:
    """A function with all that crosses: values, addresses, inner names, errors, sums of threads."""
    inner = Block((Declare("const int", "x", Literal("5")), add(Id("x"))))
    loop = For("k", Literal("0"), CBinary("<", Id("k"), N), ONE, (add(Id("k")), inner, add(Id("x"))))
    fails = If(CBinary("==", N, Literal("3")), (Return(Literal("99")),))
    summed = For(
        *("m", Literal("0"), CBinary("<", Id("m"), N), ONE, (add(Id("m")),)),
        ("omp parallel for reduction(+:total) num_threads(team)",),
    )
    body: tuple[Stmt, ...] = (
        Declare("size_t", "bytes", Literal("0")),
        Declare("int", "total", Literal("0")),
        Declare("const int", "x", CBinary("+", N, ONE)),
        *(taken(f"at{k}", CBinary("+", N, Literal(str(k)))) for k in range(6)),
        loop,
        fails,
        *(add(CBinary("*", Id(f"at{k}"), Literal(str(k + 1)))) for k in range(6)),
        Declare("const int", "team", Literal("2")),
        summed,
        *(Assign(Id("bytes"), "+=", Id(f"at{k}")) for k in range(6)),
        add(Id("bytes")),
        Evaluate(CCall("(void)", (Id("x"),))),
        Return(TOTAL),
    )
    return CFunction("int", "_pm_entry", (CParameter("const int", "N"),), body, static=False)


def printed(functions: tuple[CFunction, ...], structures: object, directory: Path) -> str:
    """What the program prints."""
    file = File("", frozenset(), (), functions, structures=structures)  # type: ignore[arg-type]
    source = directory / "parts.c"
    source.write_text(unit(file, HARNESS) + MAIN)
    flags = ["-fopenmp", "-O1", "-Wall", "-fsanitize=address,undefined"]
    subprocess.run(["gcc", *flags, "-o", directory / "parts", source], check=True)
    return subprocess.run([directory / "parts"], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_function_in_parts_computes_the_same(tmp_path: Path) -> None:
    whole = printed((entry(),), (), tmp_path)
    assert whole.split()[3] == "99"
    cut = 0
    for most in (9, 12, 16, 24):
        functions, structures = in_parts(entry(), most)
        cut += len(functions) > 2
        assert printed(functions, structures, tmp_path) == whole
    assert cut >= 3


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_what_threads_add_to_is_a_variable_in_parts_as_well(tmp_path: Path) -> None:
    """It lies in no structure, which a clause of a pragma cannot name; what keeps its value is handed on."""
    summed = For(
        *("m", Literal("0"), CBinary("<", Id("m"), N), ONE, (add(Id("m")),)),
        ("omp parallel for reduction(+:total)",),
    )
    calls = CBinary("+", Subscript(Id("calls"), Literal("0")), ONE)
    body: tuple[Stmt, ...] = (
        Declare("static size_t", "calls[1]"),
        Declare("size_t", "bytes", Literal("0")),
        Declare("int", "total", Literal("0")),
        *(taken(f"at{k}", CBinary("+", N, Literal(str(k)))) for k in range(4)),
        summed,
        Assign(Subscript(Id("calls"), Literal("0")), "=", calls),
        *(add(CBinary("*", Id(f"at{k}"), Subscript(Id("calls"), Literal("0")))) for k in range(4)),
        *(Assign(Id("bytes"), "+=", Id(f"at{k}")) for k in range(4)),
        Return(CBinary("+", TOTAL, Id("bytes"))),
    )
    function = CFunction("int", "_pm_entry", (CParameter("const int", "N"),), body, static=False)
    whole, cut = printed((function,), (), tmp_path), 0
    for most in range(8, 24):
        functions, structures = in_parts(function, most)
        cut += len(functions) > 1
        assert printed(functions, structures, tmp_path) == whole
    assert cut >= 3


def test_short_functions_stay_as_they_are() -> None:
    function = entry()
    assert in_parts(function, 100) == ((function,), ())
    assert in_parts(function, 100)[0][0] is function


def test_parts_are_as_short_as_asked_for() -> None:
    functions, _ = in_parts(entry(), 16)
    assert len(functions) > 2
    assert all(function_text(each).count("\n") <= 18 for each in functions[:-1])
    assert [each.name for each in functions[:-1]] == [f"_pm_entry_part{k}" for k in range(1, len(functions))]


def test_two_long_sums_of_a_scope_have_names_of_their_own() -> None:
    terms = [CBinary("*", Id("N"), Literal(f"{k}.25")) for k in range(280)]
    total = functools.reduce(lambda one, other: CBinary("+", one, other), terms)
    sums = (Declare("const double", "one", total), Declare("const double", "two", total))
    work = CFunction(
        *("double", "_pm_work", (CParameter("double", "N"),)),
        (*sums, Return(CBinary("-", Id("one"), Id("two")))),
    )
    for function in in_parts(work, 40)[0]:
        declared = re.findall(r"const double (_pm_sum_\d+)\b(?= =|,|\))", function_text(function))
        assert len({*declared}) == len(declared)


def test_nests_are_not_cut() -> None:
    assert is_parted(entry())
    assert not is_parted(CFunction("void", "_pm_nest_entry", (), ()))


def test_names_of_inner_scopes_are_not_free() -> None:
    free = free_names(entry().body)
    assert {"N", "bytes", "total"} & free.used == {"N"}
    inner = free_names([each for each in entry().body if isinstance(each, For)])
    assert inner.used >= {"N", "total", "x", "team"}
    assert not {"k", "m"} & inner.used
    assert inner.changed == {"total"}
    assert "total" in inner.told


def test_values_go_to_free_names_alone() -> None:
    own = Block((Declare("int", "x", Id("x")), Assign(Id("x"), "=", ONE)))
    (made,) = with_values([own], {"x": CUnary("*", Id("p"))})
    assert made == Block((Declare("int", "x", CUnary("*", Id("p"))), Assign(Id("x"), "=", ONE)))
    (address,) = with_values([Evaluate(CUnary("&", Id("x")))], {"x": CUnary("*", Id("p"))})
    assert address == Evaluate(Id("p"))


def test_arrays_lie_with_the_pointers_to_them() -> None:
    room = Declare("double", "room[4]", None)
    uses = [Evaluate(CCall("use", (Literal("1"),)))] * 8
    last = Evaluate(CCall("use", (Id("at"),)))
    for ctype, begin in (("double *const", 1), ("const double", 0)):
        run = best_run([room, Declare(ctype, "at", Id("room")), *uses, last], {}, 1, 14, ends=False)
        assert run is not None
        assert run.begin == begin
