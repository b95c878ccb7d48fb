"""The conda recipe asks for what pyproject.toml asks for: nobody builds it here."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

import polymat

ROOT = Path(__file__).resolve().parents[1]
RENAMED = {"scipy-openblas32": "libopenblas"}  # a wheel's name, and what holds the same library there
ADDED = {"python", "gcc"}


def project() -> dict[str, Any]:
    if importlib.util.find_spec("tomllib") is None:
        pytest.skip("Python 3.10 reads no TOML")
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, Any] = tomllib.load(file)
    return found


def recipe() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="no YAML reader is installed")
    found: dict[str, Any] = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    return found


def bounds(requirements: list[str]) -> dict[str, str]:
    """The least version by name."""
    split = [re.fullmatch(r"([\w-]+)\s*(?:>=\s*([\d.]+))?", each) for each in requirements]
    return {found[1]: found[2] or "" for found in split if found is not None}


def test_it_asks_for_what_the_package_asks_for() -> None:
    wanted = {
        RENAMED.get(name, name): least for name, least in bounds(project()["project"]["dependencies"]).items()
    }
    found = bounds(recipe()["requirements"]["run"])
    assert len(wanted) == 5
    assert {name: least for name, least in found.items() if name not in ADDED} == wanted
    assert f">={found['python']}" == project()["project"]["requires-python"]


def test_pip_is_not_asked_for_packages_that_have_other_names() -> None:
    """rattler-build runs `pip check` unless it is told not to, which would miss the renamed ones."""
    (imports,) = (each["python"] for each in recipe()["tests"] if "python" in each)
    assert imports == {"imports": ["polymat"], "pip_check": not RENAMED}


def test_it_is_built_as_wheels_are() -> None:
    host = bounds(recipe()["requirements"]["host"])
    needed = bounds(project()["build-system"]["requires"])
    assert {name: host[name] for name in needed} == needed
    (entry,) = recipe()["build"]["python"]["entry_points"]
    assert entry == f"polymat = {project()['project']['scripts']['polymat']}"


def test_it_names_this_version_and_files_that_are_there() -> None:
    assert recipe()["context"]["version"] == project()["project"]["version"] == polymat.__version__
    assert (ROOT / recipe()["about"]["license_file"]).exists()
    for test in recipe()["tests"]:
        for path in test.get("files", {}).get("source", ()):
            assert (ROOT / path).exists()
