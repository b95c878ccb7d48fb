"""The wheel of this machine: it has everything, and works where there is nothing else, compiler or not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import polymat as pm
from polymat.runtime.release import release

ROOT = Path(__file__).resolve().parents[1]
TRIED = ROOT / ".ci" / "wheel_test.py"
NO_SOURCES = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources, without what was built among them."""
    copy = tmp_path_factory.mktemp("sources")
    shutil.copytree(ROOT / "polymat", copy / "polymat", ignore=NO_SOURCES)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, copy)
    out = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    environment = {**os.environ, "CFLAGS": "-O1"}
    subprocess.run([*command, "--wheel-dir", out, copy], check=True, env=environment, timeout=300)
    (found,) = out.glob("polymat-*.whl")
    return found


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel, and what that depends on."""
    where = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", where], check=True, timeout=120)
    (packages,) = where.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return where / "bin" / "python"


def tried(python: Path, *arguments: str, path: str, where: Path) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key in ("HOME", "LANG", "POLYMAT_CACHE")}
    environment = {**kept, "PATH": path, "POLYMAT_CALIBRATE": "off"}
    command = [str(python), str(TRIED), *arguments]
    return subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_wheel_has_everything_that_runs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("polymat/")}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed", "codegen/**/*.h")
        for path in (ROOT / "polymat").rglob(pattern)
        if "__pycache__" not in path.parts
    }
    assert wanted <= inside
    assert sum(name.endswith(".so") for name in inside) == 2


def test_a_saved_library_runs_without_a_compiler(empty: Path, tmp_path: Path) -> None:
    made = tried(empty, "save", str(tmp_path), path=os.environ["PATH"], where=tmp_path)
    assert made.returncode == 0, made.stderr
    assert str(empty.parent.parent) in made.stdout  # and not the sources
    there = tried(empty, "load", str(tmp_path), path="", where=tmp_path)
    assert there.returncode == 0, there.stderr
    refused = tried(empty, "save", str(tmp_path / "other"), path="", where=tmp_path)
    assert "ToolchainError" in refused.stderr


def test_the_version_stands_once() -> None:
    stated = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert [release()] == [pm.__version__] == stated


def test_a_program_finds_a_saved_library(tmp_path: Path) -> None:
    """By pkg-config and by CMake, in a directory with a space in its name that was moved after saving."""
    N = pm.Parameter(pm.Int, "N")
    x = pm.Vector(pm.Double, "x", [N])
    fast = pm.Options(cflags=("-O0",))
    pm.compile((x + x).named("twice"), name="twice", inputs=[x], options=fast).save(tmp_path / "there")
    kept = shutil.move(tmp_path / "there", tmp_path / "moved away")
    text = "#include <twice.h>\nint main(void)\n{\n    const double x[3] = {1, 2, 3};\n    double y[3];\n"
    text += "    return twice(x, y, 3) != 0 || y[2] != 6.0;\n}\n"
    (tmp_path / "main.c").write_text(text)
    ways = {"pkg-config": by_pkg_config, "cmake": by_cmake}
    present = [name for name in ways if shutil.which(name)]
    if not present:
        pytest.skip("neither pkg-config nor CMake is installed")
    for name in present:
        subprocess.run([ways[name](Path(kept), tmp_path)], check=True, cwd="/")


def by_pkg_config(kept: Path, where: Path) -> Path:
    command = 'cc main.c $(pkg-config --cflags --libs polymat-twice | sed "s/^/ /") -o by_pkg_config'
    environment = {**os.environ, "PKG_CONFIG_PATH": str(kept)}
    subprocess.run(["bash", "-c", f'eval "{command}"'], cwd=where, env=environment, check=True)
    version = subprocess.run(
        ["pkg-config", "--modversion", "polymat-twice"], env=environment, check=True, capture_output=True
    )
    assert version.stdout.decode().strip() == release()
    return where / "by_pkg_config"


def by_cmake(kept: Path, where: Path) -> Path:
    (where / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nfind_package(polymat-twice REQUIRED)\n"
        "add_executable(by_cmake main.c)\ntarget_link_libraries(by_cmake polymat::twice)\n"
    )
    build = where / "build"
    subprocess.run(["cmake", "-S", where, "-B", build, f"-DCMAKE_PREFIX_PATH={kept}"], check=True)
    subprocess.run(["cmake", "--build", build], check=True)
    return build / "by_cmake"
