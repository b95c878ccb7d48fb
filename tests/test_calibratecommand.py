"""`polymat calibrate`: everything is measured once, then what a busy minute disturbs once more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat import cli
from tests.machine.test_model import MEASURED


@pytest.mark.parametrize("passes", [1, 2])
def test_the_passes_lie_apart(
    passes: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All else that is measured lies between the two; a machine that was measured twice is not again."""
    done: list[str] = []
    found = replace(MEASURED, passes=passes)

    def noted(name: str, result: object) -> object:
        def run(*_: object, again: bool = False, **__: object) -> object:
            done.append(f"{name} again" if again else name)
            return result

        return run

    for name, result in (
        ("calibrate", found),
        ("calibrate_library", None),
        ("keep_products", ()),
        ("calibrate_fft", None),
        ("calibrate_again", replace(found, passes=2)),
    ):
        monkeypatch.setattr(cli, name, noted(name, result))
    monkeypatch.setattr(cli, "stored_calibration", lambda: None)
    monkeypatch.setattr(cli, "library_model", lambda: None)
    assert cli.main(["calibrate"]) == 0
    once = ["calibrate", "calibrate_library", "keep_products", "calibrate_fft"]
    assert done == (once if passes == 2 else [*once, "calibrate_again", "keep_products again"])
    assert "measured twice, alike" in capsys.readouterr().out
