"""What the store of compiled libraries keeps when its room is short, and what clearing it removes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polymat.runtime import cacheroom
from polymat.runtime.cache import fetch_or_build
from polymat.runtime.cacheroom import clear, entries
from tests.runtime.test_cache import Counted, directory, key_number

__all__ = ["directory"]  # the fixture that gives each test an empty cache


def test_oldest_use_goes_first(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        path = fetch_or_build(key_number(number), Counted()).path
        os.utime(path, (1000 + number, 1000 + number))
    assert [entry.key for entry in entries()] == [key_number(number) for number in range(4)]
    one = entries()[0].bytes
    assert fetch_or_build(key_number(0), Counted()).hit
    monkeypatch.setenv("POLYMAT_CACHE_LIMIT", str((3 * one + 10) / 2**20))
    fetch_or_build(key_number(9), Counted())
    assert {entry.key for entry in entries()} == {key_number(number) for number in (0, 3, 9)}
    monkeypatch.setenv("POLYMAT_CACHE_LIMIT", "0")
    assert fetch_or_build(key_number(10), Counted()).path.exists()
    assert [entry.key for entry in entries()] == [key_number(10)]


def test_a_store_that_fits_keeps_all_and_removes_what_was_abandoned(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long ago: what another process works in stays."""
    fetch_or_build(key_number(0), Counted())
    for name, age in (("old.partial", 1000), ("young.partial", None)):
        (directory / name).mkdir()
        if age is not None:
            os.utime(directory / name, (age, age))
    monkeypatch.setattr(cacheroom, "_UNTIL_NEXT_LOOK", {})  # as another process stores
    fetch_or_build(key_number(1), Counted())
    assert {entry.key for entry in entries()} == {key_number(0), key_number(1)}
    assert [path.name for path in directory.glob("*.partial")] == ["young.partial"]


def test_a_process_looks_through_the_store_as_often_as_room_is_short(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def stored(where: Path) -> tuple[int, bool]:
        looked.append(len(list(where.glob("*.so"))))
        return found(where)

    found = cacheroom._stored
    monkeypatch.setattr(cacheroom, "_stored", stored)
    for number in range(20):
        fetch_or_build(key_number(number), Counted())
    assert looked == [1]
    room = 40 * entries()[0].bytes
    monkeypatch.setenv("POLYMAT_CACHE_LIMIT", str(room / 2**20))
    for number in range(20, 60):
        fetch_or_build(key_number(number), Counted())
        assert sum(entry.bytes for entry in entries()) <= room
    assert looked[1:5] == [21, 24, 27, 29]  # an eighth of what is left, and one more
    assert looked[-3:] == [41, 41, 41]


def test_clear(directory: Path) -> None:
    for number in range(3):
        fetch_or_build(key_number(number), Counted())
    (directory / "abandoned.partial").mkdir()
    (directory / "notes.txt").touch()
    assert clear() == 3
    assert (entries(), clear()) == ((), 0)
    assert not (directory / "abandoned.partial").exists()
    assert (directory / "notes.txt").exists()
