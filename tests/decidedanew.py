"""Which programs are decided and not taken as they were: what a fixture lists."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from polymat import driver
from polymat.runtime import outlines


def noted_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is decided anew, with an empty cache and as users compile: nothing is verified."""
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(cache))
    monkeypatch.setenv("POLYMAT_VERIFY", "0")
    monkeypatch.setattr(outlines, "BEGUN", time.time_ns() + 10**15)  # somebody may edit meanwhile
    outlines._identity.cache_clear()
    found: list[str] = []
    whole = driver.compiled

    def noted(request: Any) -> Any:
        found.append(request.name)
        return whole(request)

    monkeypatch.setattr(driver, "compiled", noted)
    return found
