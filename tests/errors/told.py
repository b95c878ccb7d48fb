"""What an error tells the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm


def told(error: type[pm.PolymatError], program: Callable[[], Any]) -> str:
    """The text of the error that a program raises, its place in the program's file aside.

    The second line of the text is the user's own.
    """
    with pytest.raises(error) as caught:
        program()
    assert type(caught.value) is error
    first, *rest = str(caught.value).splitlines()
    location = caught.value.location
    assert location is not None
    assert (location.file, first.startswith(f"{location}: ")) == (program.__code__.co_filename, True)
    return "\n".join([first.removeprefix(f"{location}: "), *rest])
