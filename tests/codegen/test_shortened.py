"""Long functions become several: what crosses from one to another keeps its value."""

import functools
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
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
    exported,
)
from polymat.codegen.c.freenames import free_names, with_values
from polymat.codegen.c.pointing import known_in
from polymat.codegen.c.render import function_text, unit
from polymat.codegen.c.scopes import every
from polymat.codegen.partruns import Rules, best_run
from polymat.codegen.shortened import in_parts

ONE, N, TOTAL = Literal("1"), Id("N"), Id("total")
# Stops at 3, counts in memory, and returns what a part might have forgotten.
HARNESS = """
#include <stddef.h>
#include <stdio.h>
typedef int four __attribute__((vector_size(16)));
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
    return exported("int", "_pm_entry", (CParameter("const int", "N"),), body)


def printed(functions: tuple[CFunction, ...], structures: object, directory: Path, main: str = MAIN) -> str:
    """What the program prints."""
    file = File("", frozenset(), (), functions, structures=structures)  # type: ignore[arg-type]
    source = directory / "parts.c"
    source.write_text(unit(file, HARNESS) + main)
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


@pytest.mark.turns(2)
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
    function = exported("int", "_pm_entry", (CParameter("const int", "N"),), body)
    whole, cut = printed((function,), (), tmp_path), 0
    for most in range(8, 24):
        functions, structures = in_parts(function, most)
        cut += len(functions) > 1
        assert printed(functions, structures, tmp_path) == whole
    assert cut >= 3


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_lanes_of_a_vector_are_a_part_of_it(tmp_path: Path) -> None:
    """Who adds to one of them in a part changes what is read behind it."""
    lanes = [Subscript(Id("sums"), Literal(str(k))) for k in range(4)]
    loops = [
        For(f"k{k}", Literal("0"), CBinary("<", Id(f"k{k}"), N), ONE, (Assign(lane, "+=", Id(f"k{k}")),) * 3)
        for k, lane in enumerate(lanes)
    ]
    total: CExpr = Literal("0")
    for lane in lanes:
        total = CBinary("+", total, lane)
    body: tuple[Stmt, ...] = (Declare("four", "sums", Literal("{0}")), *loops, Return(total))
    function = exported("int", "_pm_entry", (CParameter("const int", "N"),), body)
    whole, cut = printed((function,), (), tmp_path), 0
    for most in range(8, 20):
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
        runs_others=True,
    )
    for function in in_parts(work, 40)[0]:
        declared = re.findall(r"const double (_pm_sum_\d+)\b(?= =|,|\))", function_text(function))
        assert len({*declared}) == len(declared)


def row(number: int, *before: Stmt) -> tuple[Stmt, ...]:
    """A loop over elements that adds up powers, and what it adds up in."""
    total, element = Id(f"sum{number}"), Subscript(Id("A"), Id("j"))
    factors: list[CExpr] = [Literal("0.5"), *[element] * number]
    power = functools.reduce(lambda one, other: CBinary("*", one, other), factors)
    added = Assign(total, "+=", power)
    loop = For("j", Literal("0"), CBinary("<", Id("j"), N), ONE, (*before, added))
    kept = Assign(Subscript(Id("out"), Id("i")), "+=", total)
    return (Declare("double", total.name, Literal("0.0")), loop, kept)


def nest(*inner: Stmt) -> CFunction:
    """A loop over rows, beside others that run once."""
    rows = For("i", Literal("0"), CBinary("<", Id("i"), N), ONE, inner)
    once = Block((Declare("const ptrdiff_t", "i", Literal("0")), *row(7)))
    parameters = (
        CParameter("const double *restrict ", "A"),
        CParameter("double *restrict ", "out"),
        CParameter("const ptrdiff_t", "N"),
    )
    return CFunction("void", "_pm_nest_sums", parameters, (rows, once, rows, once))


NEST_MAIN = """
int main(void)
{
    double A[7] = {1, 2, 3, 4, 5, 6, 7}, out[7] = {0};
    _pm_nest_sums(A, out, 7);
    for (int n = 0; n < 7; n++) { printf("%g ", out[n]); }
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_nests_in_parts_compute_the_same(tmp_path: Path) -> None:
    whole = nest(*(each for k in range(6) for each in row(k)))
    text = printed((whole,), (), tmp_path, NEST_MAIN)
    cut = 0
    for most in range(9, 48, 6):
        functions, structures = in_parts(whole, most)
        assert structures == ()
        cut += len(functions) > 1
        assert printed(functions, structures, tmp_path, NEST_MAIN) == text
    assert cut >= 4


def test_parts_of_nests_are_whole_loops() -> None:
    """They change no variable of others, and have a loop where they run often; pointers stay restricted."""
    functions, _ = in_parts(nest(*(each for k in range(6) for each in row(k))), 18)
    *parts, last = functions
    assert len(parts) >= 3
    for each in parts:
        assert each.returns == "void"
        assert any(isinstance(node, For) for node in every(each.body))
        assert not re.search(r"[*&](A|out|N|i|sum\d+)\b", function_text(each).partition("{")[2])
        assert all("restrict" in p.ctype for p in each.parameters if "*" in p.ctype)
    assert last.name == "_pm_nest_sums"


def test_one_long_sum_stays_whole() -> None:
    """The body of an innermost loop, whatever its length."""
    lines = tuple(Declare("const double", f"x{k}", Subscript(Id("A"), Id("j"))) for k in range(30))
    used = tuple(Assign(Subscript(Id("out"), Id("j")), "+=", Id(f"x{k}")) for k in range(30))
    loop = For("j", Literal("0"), CBinary("<", Id("j"), N), ONE, (*lines, *used))
    function = replace(nest(), body=(loop,))
    assert in_parts(function, 30) == ((function,), ())


def test_copies_for_several_points_count_once() -> None:
    places = (Subscript(Id("out"), CBinary("+", Id("i"), Literal(f"{k}"))) for k in range(1, 90))
    block = tuple(Assign(place, "=", Literal("0.0")) for place in places)
    function = replace(nest(), body=nest(*block).body[:1])
    assert in_parts(function, 30) == ((function,), ())


@pytest.mark.parametrize("ctype", ["const int *const", "const int *const ", "const int *", "const size_t"])
def test_what_parts_leave_in_a_structure_is_assigned_there(ctype: str) -> None:
    """Whatever keeps its value where it is declared; a constant member could not be filled."""
    left = tuple(Declare(ctype, f"p{k}", CCall("at", (Literal(str(k)),))) for k in range(20))
    used = tuple(Evaluate(CCall("use", (Id(each.name),))) for each in left)
    function = exported("int", "_pm_entry", (CParameter("const int", "N"),), (*left, *used, Return(TOTAL)))
    _, structures = in_parts(function, 24)
    kept = {field.ctype.strip() for each in structures for field in each.fields}
    assert kept == {"const int *" if "*" in ctype else "size_t"}


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
        run = best_run([room, Declare(ctype, "at", Id("room")), *uses, last], {}, 1, Rules(14))
        assert run is not None
        assert run.begin == begin


def test_ends_of_a_function_without_a_result_stay_in_its_last_parts() -> None:
    """What leaves it in the last statement may be a part, and what leaves it before others may not."""
    leaves = If(CBinary(">", Id("k"), N), (Return(),))
    adds = (Assign(Subscript(Id("sums"), Literal("0")), "+=", Id("k")),)
    condition = CBinary("<", Id("k"), Literal("100"))
    long, longer = (For("k", Literal("0"), condition, ONE, (leaves, *adds * count)) for count in (6, 9))
    parameters = (CParameter("int *", "sums"), CParameter("const int", "N"))
    ways = If(CBinary(">", N, ONE), (long,), (longer,))
    last = in_parts(CFunction("void", "_pm_all", parameters, (ways,)), 16)[0]
    assert len(last) == 3
    assert [text.count("return;") for text in map(function_text, last)] == [1, 1, 0]
    before = in_parts(CFunction("void", "_pm_all", parameters, (ways, *adds * 3)), 16)[0]
    assert "return;" in function_text(before[-1])


def test_scopes_of_nothing_have_no_parts() -> None:
    """As beside ways of many names, for which there is less than no room."""
    assert best_run([], {}, 1, Rules(14)) is None


def test_parts_of_what_was_cut_before_have_names_of_their_own() -> None:
    """A function that is cut again keeps its earlier parts."""
    before, _ = in_parts(entry(), 20)
    names = {each.name for each in before}
    after, _ = in_parts(replace(before[-1], body=entry().body), 16, names)
    assert len(after) > 1
    assert names.isdisjoint(each.name for each in after[:-1])
    assert after[-1].name == before[-1].name


def test_what_a_structure_points_to_is_changed_by_who_is_handed_that() -> None:
    """A part of what was cut before takes it by its address, and not as it was before the call."""
    lent = Declare("const given", "_pm_for", Braces((CUnary("&", Id("bytes")),)))
    calls = Evaluate(CCall("changes", (CUnary("&", Id("_pm_for")),)))
    reads = [Evaluate(CCall("use", (Id("bytes"),)))] * 8
    for kept, changed in ((lent, ("bytes",)), (Declare("const given", "_pm_for", Braces((ONE,))), ())):
        known = known_in([Declare("size_t", "bytes", Literal("0")), kept], {})
        run = best_run([calls, *reads], known, 1, Rules(14))
        assert run is not None
        assert "bytes" in run.handed
        assert tuple(name for name in run.changed if name == "bytes") == changed
