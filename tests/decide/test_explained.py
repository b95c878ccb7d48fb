"""What speaks for plans is worked out when `explain` is asked, once, and says what it said before."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat import Double, Float, Int, Matrix, Parameter
from polymat.decide import explained
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
