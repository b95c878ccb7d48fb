"""The wheel of this machine: it has everything, and works where there is nothing else, compiler or not."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat.runtime.release import release
from tests.compilers import clang
from tests.elsewhere import COMPILER, INSTALLED
from tests.test_cli import BLUR

ROOT = Path(__file__).resolve().parents[1]
TRIED = ROOT / ".ci" / "wheel_test.py"
NO_SOURCES = shutil.ignore_patterns(
    *("*.so", "__pycache__", "*.egg-info", ".git", ".venv*", ".*_cache", "build", "dist")
)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from a copy of the tree without what was built there."""
    copy, out = tmp_path_factory.mktemp("copies") / "tree", tmp_path_factory.mktemp("sdists")
    shutil.copytree(ROOT, copy, ignore=NO_SOURCES)
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(out)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, timeout=100)
    shutil.rmtree(copy)  # the sdist has to do
    (packed,) = out.glob("polymat-*.tar.gz")
    return packed


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree that is in the sdist."""
    where = tmp_path_factory.mktemp("unpacked")
    shutil.unpack_archive(sdist, where)
    (tree,) = where.iterdir()
    return tree


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist."""
    out = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    environment = {**os.environ, "CFLAGS": "-O1"}
    subprocess.run([*command, "--wheel-dir", out, sdist], check=True, env=environment, timeout=300)
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


def tried(
    python: Path, *arguments: str, path: str, where: Path, compiler: str = ""
) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key in ("HOME", "LANG", "POLYMAT_CACHE")}
    environment = {**kept, "PATH": path, "POLYMAT_CALIBRATE": "off", "POLYMAT_CC": compiler}
    command = [str(python), str(TRIED), *arguments]
    return subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_an_sdist_has_all_that_git_has(unpacked: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("the tree is no clone")
    assert not [name for name in listed.stdout.splitlines() if not (unpacked / name).is_file()]


def test_an_unpacked_sdist_makes_its_environment(unpacked: Path) -> None:
    """As `polymat bench` of a wheel tells users; make stops where a file that it needs is not there."""
    made = subprocess.run(
        ["make", "-n", "setup", "demo"], cwd=unpacked, capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert "sh .ci/venv" in made.stdout
    subprocess.run(["sh", "-n", ".ci/venv"], cwd=unpacked, check=True)


def test_the_wheel_has_everything_that_runs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("polymat/")}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed", "codegen/**/*.h", "page/*.css", "model/*.json")
        for path in (ROOT / "polymat").rglob(pattern)
        if "__pycache__" not in path.parts
    }
    assert {"polymat/page/page.css", "polymat/model/ranker.json"} <= wanted
    assert wanted <= inside
    assert sum(name.endswith(".so") for name in inside) == 2


def test_a_wheel_is_made_one_for_many_systems(wheel: Path, tmp_path: Path) -> None:
    """As `make dist` does it: its name says from which C library on, and it has what it had."""
    if importlib.util.find_spec("auditwheel") is None:
        pytest.skip("auditwheel is not installed")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "-m auditwheel repair --wheel-dir dist build/dist/*.whl" in makefile
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(tmp_path), str(wheel)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PATH": path}, timeout=100)
    (made,) = tmp_path.glob("polymat-*manylinux_2_*.whl")
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(made) as after:
        names = [{name for name in each.namelist() if name[-1] != "/"} for each in (before, after)]
    assert names[0] == names[1]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_saved_library_runs_without_a_compiler(compiler: str, empty: Path, tmp_path: Path) -> None:
    command = clang() if compiler == "clang" else shutil.which(compiler)
    if command is None:
        pytest.skip(f"{compiler} is not installed")
    made = tried(empty, "save", str(tmp_path), path=os.environ["PATH"], where=tmp_path, compiler=command)
    assert made.returncode == 0, made.stderr
    assert str(empty.parent.parent) in made.stdout  # and not the sources
    there = tried(empty, "load", str(tmp_path), path="", where=tmp_path)
    assert there.returncode == 0, there.stderr
    refused = tried(empty, "save", str(tmp_path / "other"), path="", where=tmp_path)
    assert "ToolchainError" in refused.stderr


def test_the_version_stands_once() -> None:
    stated = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert [release()] == [pm.__version__] == stated


def test_a_tag_gives_the_version(tmp_path: Path) -> None:
    """As the workflow of releases does before anything is built."""
    for name in (".ci/version", "pyproject.toml", "conda/recipe.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    command = ["sh", str(tmp_path / ".ci" / "version")]
    subprocess.run([*command, "v1.20.3rc1"], check=True)
    assert 'version = "1.20.3rc1"\n' in (tmp_path / "pyproject.toml").read_text("utf-8")
    assert '\n  version: "1.20.3rc1"\n' in (tmp_path / "conda" / "recipe.yaml").read_text("utf-8")
    refused = subprocess.run([*command, "main"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stderr[:20]) == (2, ".ci/version: main is")
    assert '.ci/version "$GITHUB_REF_NAME"' in (ROOT / ".github" / "workflows" / "wheels.yml").read_text(
        "utf-8"
    )


def test_the_command_is_installed_beside_python(tmp_path: Path) -> None:
    """And says its own name; what it does is what the module does."""
    command = Path(sysconfig.get_path("scripts")) / "polymat"
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"polymat {pm.__version__}\n"
    wrong = subprocess.run([command], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr[:15]) == (2, "usage: polymat ")
    path = tmp_path / "app.py"
    path.write_text(BLUR)
    dumped = subprocess.run([command, "dump", path, "--until", "fusion"], capture_output=True, check=True)
    assert dumped.stdout == b"blur\n"


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a saved library, with a space in its name, which was moved after saving."""
    where = tmp_path_factory.mktemp("saved")
    N = pm.Parameter(pm.Int, "N")
    x = pm.Vector(pm.Double, "x", [N])
    fast = pm.Options(cflags=("-O0",))
    pm.compile((x + x).named("twice"), name="twice", inputs=[x], options=fast).save(where / "there")
    return Path(shutil.move(where / "there", where / "moved away"))


PROGRAM = """\
#include <twice.h>
int main(void)
{
    const double x[3] = {1, 2, 3};
    double y[3];
    return twice(x, y, 3) != 0 || y[2] != 6.0;
}
"""
CPLUSPLUS = "#include <vector>\n" + PROGRAM.replace("double y[3];", "std::vector<double> y(3);").replace(
    "twice(x, y, 3)", "twice(x, y.data(), 3)"
)


@pytest.mark.covering
@pytest.mark.parametrize("language", ["C", "CXX"])
@pytest.mark.parametrize("way", ["pkg-config", "cmake"])
def test_a_program_finds_a_saved_library(way: str, language: str, moved: Path, tmp_path: Path) -> None:
    """As docs/guides/shipping.md says it, with the names that stand there for the user's own."""
    compiler = {"C": "cc", "CXX": "c++"}[language]
    if not shutil.which(way) or not shutil.which(compiler):
        pytest.skip(f"{way} or {compiler} is not installed")
    source = {"C": "main.c", "CXX": "main.cpp"}[language]
    (tmp_path / source).write_text(PROGRAM if language == "C" else CPLUSPLUS)
    {"pkg-config": by_pkg_config, "cmake": by_cmake}[way](language, source, moved, tmp_path)
    subprocess.run([next(tmp_path.rglob("main"))], check=True, cwd="/")


def told(language: str) -> str:
    """The block of the guide in a language, with the name of this library."""
    text = (ROOT / "docs" / "guides" / "shipping.md").read_text("utf-8")
    block: str
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    return block.replace("NAME", "twice")


def by_pkg_config(language: str, source: str, kept: Path, where: Path) -> None:
    """What pkg-config prints is quoted for a shell, which has to read it once more where there are spaces."""
    where_it_is, compiled = told("sh").splitlines()
    if language == "CXX":
        compiled = compiled.replace("cc main.c", f"c++ {source}")
    steps = [where_it_is.replace("/path/to/build", f"'{kept}'"), f'eval "{compiled}"']
    steps.append('test "$(pkg-config --modversion polymat-twice)" = "$1"')
    subprocess.run(["sh", "-euc", "\n".join(steps), "sh", release()], cwd=where, check=True)


def by_cmake(language: str, source: str, kept: Path, where: Path) -> None:
    begin = f"cmake_minimum_required(VERSION 3.13)\nproject(user {language})\nadd_executable(main {source})\n"
    (where / "CMakeLists.txt").write_text(begin + told("cmake"))
    build = where / "build"
    subprocess.run(["cmake", "-S", where, "-B", build, f"-DCMAKE_PREFIX_PATH={kept}"], check=True)
    subprocess.run(["cmake", "--build", build], check=True)


@pytest.mark.skipif(not INSTALLED, reason="no compiler for aarch64, or no emulator")
def test_the_extensions_compile_for_aarch64(tmp_path: Path) -> None:
    """With this Python's headers, which are those of other processors of 64 bits as well, and no warning."""
    include = [sysconfig.get_path("include"), sysconfig.get_path("platinclude"), np.get_include()]
    sources = [ROOT / "polymat" / "_surface.c", *sorted((ROOT / "polymat" / "runtime").glob("_launch*.c"))]
    assert len(sources) == 10
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    places = [f"-I{place}" for place in dict.fromkeys(include)]
    out = str(tmp_path / "both.so")
    done = subprocess.run(
        [COMPILER, *flags, *places, *map(str, sources), "-o", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
