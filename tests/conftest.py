"""What every test may rely on: golden files, one seed for the whole run, a compile cache of its own."""

from __future__ import annotations

import gc
import os
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.covering import left_out
from tests.hosts import CompileFor, as_stated, compiling_for

if TYPE_CHECKING:  # this is imported before the cache of the tests is set up
    from polymat.runtime.toolchain import Compiler

TESTS = Path(__file__).parent
# The C compiler takes most of the time of all tests.  What these test shows in numbers, texts and decisions,
# whatever gcc makes of the C: it makes the plainest code, in a third of the time.
NOT_OPTIMISED = frozenset(
    ("audit", "decide", "errors", "fusion", "graph", "idiom", "lang", "model", "mutations", "plan", "poly")
) | {"images", "npbench", "product", "properties", "rewrite", "search", "tilesize", "measuring"}
NOT_OPTIMISED |= {"benchmarks", "data", "page"} | {
    f"test_{name}.py" for name in ("bisect", "passes", "presets")
}
# What gcc makes of programs is the subject here, or measured.
AS_USERS_DO = frozenset(("polybench", "runtime", "measuring/test_measuremachine.py"))
# Elsewhere one of so many of a function's sets of parameters, and of functions without parameters, runs loops
# on vectors, in four times the time of the plainest code, and so is one of so many of the files that programs
# share compiled; another seed chooses others.  Of these, one of so many is compiled as users do, but in rooms
# that have loops on vectors at most.
ONE_OF = 4
# A test that asks for QUICK gets it one time in so many, and the plainest code otherwise, in a quarter of the
# time.  But here what gcc makes of it is the subject.
QUICK = "-O1"
ABOUT_GCC = frozenset(("codegen/test_semantics.py",))
ON_VECTORS = frozenset(f"codegen/{room}" for room in ("c", "memory", "products", "routines", "signals"))
# Files whose tests start processes that compile, plainly, too.
PLAIN_PROCESSES = frozenset(("test_examples.py", "benchmarks/test_bench.py", "benchmarks/test_compare.py"))
PLAIN_PROCESSES |= {
    f"benchmarks/test_{name}.py" for name in ("audit", "programs", "tunegains", "convergence")
}
# Where it is the subject which figures there are of this machine; elsewhere what is known of it counts as
# measured, as it is for users, and no library is preferred for want of figures.
AS_FOUND = frozenset(("measuring",))
PLAINEST, VECTORS = ("-O0",), ("-O1", "-ftree-vectorize")
# As users do, but that loops stay loops: without unrolling, 0.7 to 0.8 of the time for programs of many
# loops, and 0.8 of that where the few rounds before and after vectors are loops, too.
USUAL = ("-O3", "--param=max-completely-peeled-insns=60")
PEELING = "-fpeel-loops"
# Links in three quarters of the time, where it is installed; those who compile as users do link as users do.
LINKER = ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()
# What the plainest code is the same without: so files that programs share are compiled once for all.
OF_LEVELS = frozenset(("-ftree-vectorize", "-fexpensive-optimizations", "-fno-unroll-loops"))
# How many new objects the collector of garbage looks at at once, and how many times before it looks at older
# ones, too: with Python's own numbers it took a tenth of the time.
GARBAGE = (100_000, 20, 20)
_temporary_cache = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden instead of comparing")
    parser.addoption(
        "--seed", type=int, help="seed of the random tests (default: POLYMAT_SEED, or a new one)"
    )
    parser.addoption(
        "--kernel-cache", metavar="DIR", help="keep compiled kernels in DIR (default: discarded)"
    )
    parser.addoption(
        "--all-sets",
        action="store_true",
        help="run all sets of parameters, not only those that cover all values",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Fix seed and cache before anything imports polymat; xdist workers inherit both from the environment."""
    if hasattr(config, "workerinput"):
        return
    seed = config.getoption("--seed")
    if seed is not None:
        os.environ["POLYMAT_SEED"] = str(seed)
    os.environ.setdefault("POLYMAT_SEED", str(secrets.randbelow(2**31)))
    os.environ["POLYMAT_SETS"] = os.environ.get("POLYMAT_SETS") or os.environ["POLYMAT_SEED"]
    os.environ.setdefault("POLYMAT_VERIFY", "1")  # what must hold after each pass is checked
    _isolate_cache(config)


def pytest_collection_finish() -> None:
    """Let the collector of garbage look at no test, and seldom at what they make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests without a golden file where these are rewritten, else what other runs take."""
    if config.getoption("--update-golden"):
        wanted = {"golden", "update_golden"}
        items[:] = [item for item in items if wanted & {*getattr(item, "fixturenames", ())}]
    elif not config.getoption("--all-sets"):
        out = left_out(items, os.environ["POLYMAT_SETS"])
        items[:] = [item for item in items if item not in out]
        config.hook.pytest_deselected(items=[*out])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let the C compiler be quick where its optimisation is not tested, for fixtures of modules too."""
    from polymat.runtime import flags, objects  # imported after the cache of the tests is set up
    from polymat.runtime.calibration import calibrated_machine

    test = item.path.relative_to(TESTS)
    shared = tuple(flag for flag in flags._SHARED["gcc"] if flag != PEELING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flags, "_OPTIMISED", _optimising(test, item.name))
        if test.as_posix() not in ABOUT_GCC and _draw(f"{test} {item.name}"):
            patch.setattr(flags, "_flags", partial(_plainly, flags._flags))
        if test.parts[0] not in AS_USERS_DO:  # what programs share is compiled once for all of these
            patch.setattr(objects, "_write_image", partial(_write_some_plainly, objects._write_image))
            patch.setattr(flags, "_GCC", (*flags._GCC, *LINKER))
        if test.as_posix() in PLAIN_PROCESSES and shutil.which("gcc") is not None:
            patch.setenv("POLYMAT_CC", str(TESTS / "plaingcc"))
        patch.setattr(flags, "_SHARED", {**flags._SHARED, "gcc": shared})
        if test.parts[0] not in AS_FOUND:
            patch.setattr("polymat.runtime.host.calibrated_machine", lambda: as_stated(calibrated_machine()))
        return (yield)


def _optimising(test: Path, name: str) -> tuple[str, ...]:
    """How far the C compiler optimises programs for a test."""
    rooms = {"/".join(test.parts[:depth]) for depth in (1, 2)}
    if rooms & AS_USERS_DO:
        return USUAL
    if rooms & NOT_OPTIMISED:
        return PLAINEST
    if _draw(f"{test} {name}"):
        return PLAINEST
    as_users_do = _draw(f"{test} {name.partition('[')[0]} as users do") == 0
    return USUAL if as_users_do and not rooms & ON_VECTORS else VECTORS


def _draw(text: str) -> int:
    """One of so many numbers, in this run."""
    return zlib.crc32(f"{os.environ['POLYMAT_SETS']} {text}".encode()) % ONE_OF


def _plainly(
    make: Callable[..., tuple[str, ...]], kind: str, optimised: tuple[str, ...], extra: tuple[str, ...]
) -> tuple[str, ...]:
    """The flags of a test that asked for quick ones, without optimisation."""
    return make(kind, optimised, tuple("-O0" if flag == QUICK else flag for flag in extra))


def _write_some_plainly(
    write: Callable[..., None], part: str, to: Path, compiler: Compiler, flags: tuple[str, ...]
) -> None:
    """Write the object file of a part that programs share: the same way for all of them."""
    if flags[0] == "-O0" or (flags[0] == "-O1" and _draw(part)):
        flags = (*PLAINEST, *(flag for flag in flags[1:] if flag not in OF_LEVELS))
    write(part, to, compiler, flags)


def _isolate_cache(config: pytest.Config) -> None:
    """Point every path of the user's own cache at a directory of this run."""
    chosen = config.getoption("--kernel-cache")
    if chosen is None:
        cache = config.stash[_temporary_cache] = Path(tempfile.mkdtemp(prefix="polymat-tests-"))
    else:
        cache = Path(chosen).absolute()
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["POLYMAT_CACHE_DIR"] = str(cache / "polymat")
    os.environ["XDG_CACHE_HOME"] = str(cache)
    for name in ("POLYMAT_CACHE", "POLYMAT_LOG"):
        os.environ.pop(name, None)
    os.environ["POLYMAT_CALIBRATE"] = "off"  # decisions rest on what is known, in their processes, too


def pytest_unconfigure(config: pytest.Config) -> None:
    cache = config.stash.get(_temporary_cache, None)
    if cache is not None:
        shutil.rmtree(cache, ignore_errors=True)


def pytest_report_header() -> str:
    seed, sets = os.environ["POLYMAT_SEED"], os.environ["POLYMAT_SETS"]
    which = "" if sets == seed else f"; sets of parameters: {sets} (again with POLYMAT_SETS=N)"
    return f"seed: {seed} (again with --seed=N or POLYMAT_SEED=N){which}"


@pytest.fixture(scope="session")
def seed() -> int:
    """The seed of this run, the same in every worker."""
    return int(os.environ["POLYMAT_SEED"])


@pytest.fixture
def compile_for() -> Iterator[CompileFor]:
    """Compile for another machine, or with other libraries, until the test ends."""
    with ExitStack() as stack:
        yield lambda machine=None, libraries=None: stack.enter_context(compiling_for(machine, libraries))


def golden_path(test: Path, name: str) -> Path:
    """tests/golden/<module>/<test>.txt of one test, parameters included."""
    module = test.relative_to(TESTS).with_suffix("")
    return TESTS / "golden" / module / (re.sub(r"[^\w.=+-]+", "_", name).strip("_") + ".txt")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether texts that are compared are to be rewritten instead."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Compare a text with tests/golden/<module>/<test>.txt; `--update-golden` rewrites the file."""
    path = golden_path(request.path, request.node.name)
    command = f"python -m pytest --update-golden '{request.node.nodeid}'"

    def check(text: str) -> None:
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(
                f"there is no {path.relative_to(TESTS.parent)} yet; make it with: {command}", pytrace=False
            )
        assert text == path.read_text(encoding="utf-8"), f"if the new text is right: {command}"

    return check
