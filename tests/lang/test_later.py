"""Functions that operators call before their module is loaded."""

from __future__ import annotations

from importlib import import_module

import pytest

from polymat.errors import InternalError
from polymat.lang import later
from polymat.lang.later import Later

SLOTS = {name: slot for name, slot in vars(later).items() if isinstance(slot, Later)}


@pytest.mark.parametrize("name", SLOTS)
def test_each_is_what_its_module_has_under_that_name(name: str) -> None:
    module = import_module(SLOTS[name].module)
    assert SLOTS[name]._function is getattr(module, name)


def test_a_module_that_does_not_give_its_function_is_a_mistake_of_ours() -> None:
    slot: Later[[], None] = Later("names")
    with pytest.raises(InternalError, match=r"polymat\.lang\.names does not give its function"):
        slot()
