"""Audits go on where something else computes on the same core, up to a limit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field

import numpy as np
import pytest

import polymat as pm
from polymat.audit import auditor
from polymat.audit.yardstick import DISTURBED, TIMES, Yardstick
from polymat.dataclass import dataclass
from polymat.driver import request_for

SECONDS = 0.05


def test_products_that_take_longer_than_before_are_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the least of a few, against the least there ever was."""
    told: Iterator[float] = iter([])
    monkeypatch.setattr(Yardstick, "_seconds", lambda _: next(told))
    yardstick, longer = Yardstick(), 2.0 * DISTURBED

    def asked(*seconds: float) -> bool:
        nonlocal told
        assert len(seconds) == TIMES
        told = iter(seconds)
        return yardstick.is_calm()

    assert asked(2.0, 2.0, 2.0)
    assert asked(9.0, longer, 9.0)
    assert not asked(9.0, 1.01 * longer, 9.0)
    assert asked(1.0, 9.0, 9.0)
    assert not asked(2.0, 2.0, 2.0)


def test_a_product_is_timed() -> None:
    yardstick = Yardstick()
    assert yardstick.is_calm()
    assert 0.0 < yardstick.least < 1.0


@dataclass(slots=True)
class _Told:
    """A yardstick that is always or never calm, and when it was asked."""

    calm: bool
    when: list[float] = field(default_factory=list)

    def is_calm(self) -> bool:
        self.when.append(time.perf_counter())
        return self.calm


@pytest.mark.parametrize("calm", [False, True])
def test_disturbed_audits_take_longer(calm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to so many times as long: rounds that are disturbed do not count, and their least times do."""
    told = _Told(calm)
    monkeypatch.setattr(auditor, "YARDSTICK", told)
    x = pm.Vector(pm.Double, "x", [1000])
    (found,) = auditor.audit(request_for([2.0 * x], name="y"), {"x": np.ones(1000)}, seconds=SECONDS)
    assert 0.0 < found.choice.measured < SECONDS
    taken = told.when[-1] - told.when[0]
    assert taken >= 0.9 * (SECONDS if calm else auditor.PATIENCE * SECONDS)
