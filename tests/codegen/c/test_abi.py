"""The calling convention as generated code follows it, and as the module that calls it does."""

from __future__ import annotations

import re
from pathlib import Path

import polymat
from polymat.codegen.c.abi import LIBRARY_MISSING, OK, OUT_OF_MEMORY, SCALAR_SLOT_BYTES, VALUES_OUTSIDE
from polymat.lang.function import MAX_RANK

HEADER = Path(polymat.__file__).parent / "runtime" / "_launch.h"


def test_the_module_in_c_says_the_same() -> None:
    enumerated = re.findall(r"^enum \{(.*)\};$", HEADER.read_text(encoding="utf-8"), flags=re.MULTILINE)
    values = {name: int(value) for text in enumerated for name, value in re.findall(r"(\w+) = (\d+)", text)}
    assert values == {
        "ENTRY_OK": OK,
        "ENTRY_OUT_OF_MEMORY": OUT_OF_MEMORY,
        "ENTRY_LIBRARY_MISSING": LIBRARY_MISSING,
        "ENTRY_VALUES_OUTSIDE": VALUES_OUTSIDE,
        "SCALAR_SLOT_BYTES": SCALAR_SLOT_BYTES,
        "MAX_RANK": MAX_RANK,
    }
