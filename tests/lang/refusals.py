"""Tables of programs that must be refused, as text: the program, the error with its message, the hint.

    x * y
    LangError: x * y: the product of two vectors is ambiguous
    hint: dot(x, y), outer(x, y) or elementwise_mul(x, y); Images of one dimension multiply by elements

A message or hint that ends with `...` is a beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import polymat as pm

FILE = "program.py"


@dataclass(frozen=True)
class Refusal:
    """One block of a table."""

    program: str
    error: str
    message: str
    hint: str

    def check(self, scope: dict[str, Any]) -> None:
        """Run the program and compare everything the user would see."""
        code = compile(self.program, FILE, "exec")
        with pytest.raises(pm.PolymatError) as caught:
            exec(code, dict(scope))
        raised = caught.value
        assert type(raised).__name__ == self.error
        assert_text(raised.message, self.message)
        assert_text(raised.hint, self.hint)
        assert raised.location is not None
        assert (raised.location.file, raised.location.line) == (FILE, 1)


def assert_text(actual: str, expected: str) -> None:
    if expected.endswith("..."):
        assert actual[: len(expected) - 3] == expected[:-3]
    else:
        assert actual == expected


def table(text: str) -> list[Any]:
    """The blocks of a table as parameters of a test, named by their programs."""
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    return [pytest.param(_read(block), id=block[0]) for block in blocks]


def _read(lines: list[str]) -> Refusal:
    program, said, *more = lines
    error, message = said.split(": ", 1)
    hint = more[0].removeprefix("hint: ") if more else ""
    return Refusal(program, error, message, hint)
