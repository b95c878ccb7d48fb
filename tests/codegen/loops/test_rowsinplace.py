"""Rows of states that change in place, in vectors of which none stores an element that another one has."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    expressions,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.shifted import with_shifts
from polymat.options import Options
from tests.codegen.loops.test_shifted import WIDE
from tests.decide.test_skewedsteps import M, N, T, fields
from tests.differential.under_sanitizers import clean_output
from tests.hosts import compiling_for


def test_what_is_written_over_is_read_where_it_is() -> None:
    """No vector of a row that is changed in place stores an element twice."""
    times = CBinary("*", Subscript(Id("x"), Id("j")), Subscript(Id("x"), Id("j")))
    condition = CBinary("<", Id("j"), Id("n"))
    types = RowTypes("f32", 16)

    def found(value: CExpr) -> tuple[Stmt, ...] | None:
        body = Assign(Subscript(Id("y"), Id("j")), "=", value)
        loop = For("j", Literal("0"), condition, Literal("1"), (body,), (VECTORS,))
        return with_shifts([loop], types, scalars=(), distinct=["z"], same=["x"])

    made = found(times)
    assert made is not None
    called = [each.function for each in expressions(made) if isinstance(each, CCall)]
    assert called.count(types.storing_parts) == 1
    assert found(Subscript(Id("x"), Id("j"))) is None  # a copy of it
    assert found(CBinary("*", times, Subscript(Id("x"), CBinary("+", Id("j"), Literal("1"))))) is None
    assert found(CBinary("*", times, Subscript(Id("z"), CBinary("+", Id("j"), Literal("1"))))) is not None


def test_fields_that_change_in_place() -> None:
    """Steps follow each other where rows lie in no cache of a core, and are taken one by one elsewhere."""
    with compiling_for(WIDE):
        run = pm.compile(fields(), options=Options(threads=1), estimates={N: 2000, M: 2000, T: 100})
    assert "_pm_rows_s" in run.source
    assert "_pm_row_store_part_f64(&" in run.source
    shapes = [*((5, columns) for columns in (1, 7, 8, 9, 15, 16, 17, 33)), (200, 220), (1, 40), (2, 33)]
    for rows, columns in shapes:
        rng = np.random.default_rng(columns)
        arrays = [rng.standard_normal((rows, columns)) for _ in range(2)]
        for steps in (1, 3):
            found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11 * 4**steps)


@pytest.mark.turns(2)
def test_sanitizers_find_nothing() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_inplace"])
    assert printed.splitlines() == [
        f"{name} {threads}" for threads in (1, 2) for name in ("fields", "means", "heat")
    ]
