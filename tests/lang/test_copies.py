"""What programs are written with can be copied and pickled."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm

N = pm.Parameter(pm.Int, "N")
i, x = pm.Variable(pm.Int, "i"), pm.Vector(pm.Double, "x", [N])
COPIES = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


@pytest.mark.parametrize("copied", COPIES)
def test_conditions_are_copied(copied: Callable[[Any], Any]) -> None:
    for condition in (
        pm.Condition(i, ">", 3) & pm.Condition(x(i), "<", 2.0),
        ~pm.Condition(i, "==", N - 1) | pm.Condition(i, "<", 1),
    ):
        made = copied(condition)
        assert str(made) == str(condition)
        assert made.at == condition.at


@pytest.mark.parametrize("copied", COPIES)
def test_functions_with_cases_are_copied(copied: Callable[[Any], Any]) -> None:
    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")
    f.defn = [pm.Case(pm.Condition(i, ">", 3), x(i)), pm.Case(pm.Condition(i, "<=", 3), -x(i))]
    found = pm.compile(copied(f)).reference(np.arange(6.0))
    np.testing.assert_array_equal(found, [0, -1, -2, -3, 4, 5])
