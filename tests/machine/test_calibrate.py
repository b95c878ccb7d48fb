"""The file of a calibration: a round trip, and whatever else may be found in its place."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polymat.machine.calibrate import LineCrossing, VectorSeconds, decode, encode, load, store
from polymat.machine.keptfile import marked
from polymat.machine.producttimes import ProductTimes
from tests.machine.test_model import MEASURED


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    measured = replace(
        MEASURED,
        products=(ProductTimes(8, 2, (3, 20), (1.5e-4,) * 8),),
        share_seconds=2e-6,
        row_seconds=3e-9,
        reach_bytes=2.0**24,
        rows_rate=2e10,
        pieces_rate=1.5e10,
        requests_gain=1.1,
        pair_seconds=2e-9,
        vectors=(VectorSeconds(8, 4e-9, 1e-9, 2e-10, 5e-10),),
        crossings=(LineCrossing(32, 1, 1e11), LineCrossing(32, 2, 9e10)),
    )
    store(path, measured)
    assert load(path, "here") == measured
    assert decode(encode(MEASURED)) == MEASURED
    assert path.stat().st_mode & 0o077 == 0
    assert os.listdir(tmp_path) == [path.name]
    slower = replace(MEASURED, hertz=1e9)
    store(path, slower)
    assert load(path, "here") == slower


def test_of_another_processor(tmp_path: Path) -> None:
    store(tmp_path / "c.json", MEASURED)
    assert load(tmp_path / "c.json", "elsewhere") is None


def test_missing(tmp_path: Path) -> None:
    assert load(tmp_path / "none.json", "here") is None
    assert load(tmp_path, "here") is None


def test_a_failed_store_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(OSError, match="taken"):
        store(tmp_path / "taken.json", MEASURED)
    assert os.listdir(tmp_path) == ["taken.json"]


TEXT = encode(MEASURED)
LATER = {
    *("blocks", "products", "share_seconds", "vectors", "crossings", "row_seconds", "reach_bytes"),
    *("rows_rate", "pieces_rate", "requests_gain", "pair_seconds", "passes", "differing"),
}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 100,
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b"[" * 60_000,
        b'{"format": 1}',
        TEXT[: len(TEXT) // 2].encode(),
        TEXT.encode() + b"x",
        TEXT.replace('"format": 1', '"format": 2').encode(),
        TEXT.replace("15000000000.0", "NaN").encode(),
        TEXT.replace("15000000000.0", "Infinity").encode(),
        TEXT.replace("15000000000.0", "1e999").encode(),
        TEXT.replace("15000000000.0", "1" + "0" * 400).encode(),
        TEXT.replace("15000000000.0", "1" * 5000).encode(),
        b" " * (1 << 17) + TEXT.encode(),
    ],
)
def test_damaged(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(marked(data))
    assert load(path, "here") is None


def test_without_its_digest(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "c.json"
    path.write_text(TEXT)
    assert load(path, "here") is None
    assert caplog.messages == [f"ignored {path}: damaged: it ends without its SHA-256"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 0),
        ("threads", True),
        ("threads", 2.0),
        ("threads", 10**9),
        ("hertz", 0),
        ("hertz", -3e9),
        ("hertz", "3e9"),
        ("hertz", True),
        ("fma_seconds", 0.0),
        ("wake_seconds", 1e9),
        ("flops32", 1e9),
        ("flops64", {"one": 1e9}),
        ("flops64", {"one": 1e9, "all": 1e9, "more": 1}),
        ("read", {}),
        ("read", None),
        ("copy", [1, 2, 3, 4]),
        ("compiler", None),
        ("compiler", "a\nb"),
        ("date", "x" * 10_000),
        ("surprise", 1),
        ("blocks", None),
        ("blocks", [[8, 6, 2, 4e10]] * 1000),
        ("blocks", [[8, 6, 2]]),
        ("blocks", [[8, 6, 0, 4e10]]),
        ("blocks", [[8, 6.0, 2, 4e10]]),
        ("blocks", [[8, True, 2, 4e10]]),
        ("blocks", [[8, 6, 2, -1.0]]),
        ("share_seconds", -1.0),
        ("share_seconds", 100.0),
        ("row_seconds", -1e-9),
        ("reach_bytes", -1.0),
        ("reach_bytes", 1e15),
        ("rows_rate", -1.0),
        ("pieces_rate", -1.0),
        ("requests_gain", 1e4),
        ("pair_seconds", -1e-9),
        ("vectors", [[8, 1e-9, 1e-9, 1e-9]]),
        ("vectors", [[8, 1e-9, 1e-9, 1e-9, 0.0]]),
        ("crossings", [[64, 0, 1e11]]),
        ("crossings", {}),
        ("products", None),
        ("products", [[8, 1, [10, 1000], [1e-3]]]),
    ],
)
def test_every_field_is_checked(name: str, value: Any) -> None:
    fields = json.loads(TEXT)
    fields[name] = value
    with pytest.raises(ValueError, match=r"\w"):
        decode(json.dumps(fields))


def test_files_of_earlier_versions_are_still_read() -> None:
    """Without register blocks, whole products, or what loops do beside multiply-adds."""
    fields = {name: value for name, value in json.loads(TEXT).items() if name not in LATER}
    assert decode(json.dumps(fields)) == replace(MEASURED, blocks=())


@pytest.mark.parametrize("name", sorted(json.loads(TEXT).keys() - LATER))
def test_every_field_is_needed(name: str) -> None:
    fields = json.loads(TEXT)
    del fields[name]
    with pytest.raises(ValueError, match=r"format|missing"):
        decode(json.dumps(fields))
