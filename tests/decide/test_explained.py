"""What speaks for plans is worked out when `explain` is asked, once, and says what it said before."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat import Double, Float, Function, Int, Interval, Matrix, Parameter, Variable
from polymat.decide import explained
from polymat.model.workingset import HeldReuse
from polymat.runtime.compiled import Compiled
from polymat.tilesize.decision import decision

N = Parameter(Int, "N")


def product() -> Compiled:
    return pm.compile(Matrix(Double, "A", [N, N]) @ Matrix(Double, "B", [N, N]), name="mm")


def test_compiling_asks_for_no_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(plan: object, *given: object, **named: object) -> object:
        asked.append(str(plan))
        return decision(plan, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(explained, "decision", counted)
    compiled = product()
    assert asked == []
    report = compiled.explain()
    assert len(asked) == len(report.groups) == 1
    assert compiled.explain() is report
    assert len(asked) == 1


def test_reasons_outlive_what_compiled_them() -> None:
    """A report that is made later is the one that would have been made at once."""
    first, second = product(), product()
    early = first.explain()
    for other in range(3):
        pm.compile(Matrix(Float, "A", [N, N]) * float(other), name="between")
    late = second.explain()
    assert [group.predicted for group in late.groups] == [group.predicted for group in early.groups]
    assert [group.scores for group in late.groups] == [group.scores for group in early.groups]


def test_reuses_of_a_group_are_those_of_its_loops() -> None:
    """Rows of a are read again a row later and two rows later, behind what was touched of both arrays since.

    That is three rows of a and one of the result, then four and two, and the element at which each begins.
    """
    i, j = Variable(Int, "i"), Variable(Int, "j")
    a, row = Matrix(Double, "a", [N, 2000]), 2000 * 8
    sums = Function(([i, j], [Interval(Int, 1, N - 2), Interval(Int, 0, 1999)]), Double, "sums")
    sums.defn = [a(i - 1, j) + a(i, j) + a(i + 1, j)]
    report = pm.compile(sums, estimates={N: 500}, options=pm.Options(threads=1)).explain()
    (found,) = report.groups[0].reuses
    assert (found.array, found.loop) == ("a", "i")
    assert (found.least, found.most) == ((3 + 1) * row + 16, (4 + 2) * row + 16)
    assert isinstance(found, HeldReuse)
    assert found.nearest != "memory"
    assert f"working sets: 1 within {found.furthest}; the largest: {found}" in str(report)
