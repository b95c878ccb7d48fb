"""`python -m polymat`: what each command prints, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat.cli import main
from polymat.dump import LEVELS

ROOT = Path(__file__).resolve().parents[1]

BLUR = """
from polymat import *; from polymat import compile

N = Parameter(Int, "N")
i = Variable(Int, "i")
x = Vector(Double, "x", [N])
blur = Function(([i], [Interval(Int, 1, N - 2)]), Double, "blur")
blur.defn = [x(i - 1) + x(i + 1)]
"""
FORMS = """
twice = Function(([i], [Interval(Int, 0, N - 1)]), Double, "twice")
twice.defn = [2 * x(i)]
both = [blur, twice]
options = {"outputs": [twice], "name": "doubled", "estimates": {N: 9}, "constraints": [Condition(N, ">", 2)]}
misspelt = {"outputs": twice, "nmae": "doubled"}
no_outputs = {"name": "doubled"}
text = "blur"
nothing = []

def compiled():
    return compile(twice, name="compiled_twice")

def described():
    return options

def parametrised(n):
    return twice

def divided():
    return 1 / 0
"""


@pytest.fixture(autouse=True)
def _import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """Write a program; the path of its file."""

    def write(text: str) -> str:
        path = tmp_path / "app.py"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


class Ended:
    """How a command ended, and what it printed."""

    def __init__(self, status: int, captured: tuple[str, str]) -> None:
        self.status = status
        self.out, self.err = captured


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    def command(*arguments: str) -> Ended:
        try:
            status = main(arguments)
        except SystemExit as ending:
            status = int(ending.code or 0)
        return Ended(status, capsys.readouterr())

    return command


Run = Callable[..., Ended]
Write = Callable[[str], str]


def test_explain_takes_the_only_function(run: Run, program: Write) -> None:
    done = run("explain", program(BLUR))
    assert done.status == 0
    assert done.out.startswith("blur: 1 group\nblur: map loops i\n")
    assert done.err == ""


def test_explain_writes_a_page(run: Run, program: Write, tmp_path: Path) -> None:
    page = tmp_path / "blur.html"
    assert run("explain", program(BLUR), "--html", str(page)).out == f"{page}\n"
    assert "<table>" in page.read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("blur", "blur"),
        ("twice", "twice"),
        ("both", "blur"),
        ("options", "doubled"),
        ("compiled", "compiled_twice"),
        ("described", "doubled"),
    ],
)
def test_a_name_may_stand_for_many_things(run: Run, program: Write, name: str, expected: str) -> None:
    done = run("explain", f"{program(BLUR + FORMS)}:{name}")
    assert (done.status, done.out.split(":")[0], done.err) == (0, expected, "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x", ":x is an input: there is nothing to compute\n"),
        ("N", ":N is Parameter Parameter(Int, 'N')\nhint: it must be a function, a reduction, "),
        ("text", ":text is str 'blur'\n"),
        ("nothing", ":nothing is list []\n"),
        ("no_outputs", ":no_outputs is a dict without outputs\nhint: "),
        ("misspelt", "compile() takes no 'nmae'\nhint: it takes outputs, name, inputs, "),
        ("parametrised", ":parametrised needs arguments\n"),
        ("blurr", " has no blurr\nhint: it has blur, twice, both, options, misspelt\n"),
    ],
)
def test_a_name_that_is_no_pipeline_is_wrong_usage(run: Run, program: Write, name: str, message: str) -> None:
    done = run("explain", f"{program(BLUR + FORMS)}:{name}")
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_without_a_name_there_must_be_one_candidate(run: Run, program: Write) -> None:
    path = program(BLUR + FORMS)
    done = run("dump", path)
    assert done.status == 2
    assert done.err.splitlines()[0] == f"{path} describes several things: which one?"
    assert f"    {path}:twice\n    {path}:both\n" in done.err
    assert "compiled" not in done.err
    done = run("dump", program("import polymat\n_hidden = 1\n"))
    assert done.status == 2
    assert "app.py describes nothing that can be compiled" in done.err


def test_two_names_of_one_thing_are_one_candidate(run: Run, program: Write) -> None:
    assert run("dump", program(BLUR + "result = blur\n_blur = blur\n"), "--until", "fusion").out == "blur\n"


def test_a_function_is_called_where_there_is_nothing_else(run: Run, program: Write) -> None:
    body = BLUR.strip().replace("\n", "\n    ").replace(BLUR.splitlines()[1], "import polymat as pm")
    for name in ("Parameter", "Int", "Variable", "Vector", "Double", "Function", "Interval"):
        body = body.replace(f" {name}(", f" pm.{name}(").replace(f"({name},", f"(pm.{name},")
    body = body.replace("[Interval", "[pm.Interval").replace(" Double,", " pm.Double,")
    done = run("dump", program(f"def build():\n    {body}\n    return blur\n"), "--until", "fusion")
    assert (done.status, done.out, done.err) == (0, "blur\n", "")


@pytest.mark.parametrize(
    ("level", "start"),
    [
        *((level, "inputs   x[N]: Double\nsizes    N: Int\noutputs  blur\n") for level in ("built", "graph")),
        ("fusion", "blur\n"),
        ("tilesize", "blur: map i omp(i) simd(i)\n"),
        ("codegen", "input  x: Double [N] from (0)\n"),
        ("source", "/* blur: generated by polymat\n"),
    ],
)
def test_dump_shows_each_level(run: Run, program: Write, level: str, start: str) -> None:
    assert level in LEVELS
    done = run("dump", program(BLUR), "--until", level)
    assert (done.status, done.out[: len(start)]) == (0, start)


def test_dump_shows_the_source_that_is_compiled(run: Run, program: Write) -> None:
    path = program(BLUR + FORMS)
    assert run("dump", f"{path}:options").out == run("dump", f"{path}:described").out
    compiled = run("dump", f"{path}:compiled").out
    assert compiled.startswith("/* compiled_twice: generated by polymat\n")
    done = run("dump", f"{path}:compiled", "--until", "fusion")
    assert (done.status, done.out) == (2, "")
    assert "is compiled already: its fusion is gone" in done.err


def test_dump_draws_the_graph(run: Run, program: Write) -> None:
    done = run("dump", program(BLUR), "--dot")
    assert done.out.startswith("digraph pipeline {")
    assert '"x" -> "blur";' in done.out
    assert run("dump", program(BLUR), "--dot", "--until", "built").status == 0
    assert run("dump", program(BLUR), "--dot", "--until", "source").status == 2


def test_compile_saves_what_load_reads(run: Run, program: Write, tmp_path: Path) -> None:
    done = run("compile", program(BLUR), "-o", str(tmp_path / "build"))
    assert done.out == f"{tmp_path / 'build' / 'blur.json'}\n"
    names = ["blur.h", "blur.json", "libblur.so", "polymat-blur.pc", "polymat-blurConfig.cmake"]
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == names
    loaded = pm.load(done.out.strip())
    assert np.array_equal(loaded(np.arange(4.0)), [0.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "arguments",
    [[], ["explain"], ["compile", "app.py"], ["dump", "app.py", "--until", "machine"], ["cache", "--all"]],
)
def test_wrong_usage_exits_with_2(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("usage: python -m polymat")


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    for spec in (f"{tmp_path}/app.py", f"{tmp_path}/app.py:blur"):
        done = run("explain", spec)
        assert (done.status, done.err) == (
            2,
            f"there is no file {tmp_path}/app.py\nhint: FILE.py or FILE.py:name\n",
        )


def test_an_error_of_the_tree_has_no_traceback(run: Run, program: Write) -> None:
    path = program(BLUR.replace("i + 1", "i + 2"))
    done = run("explain", path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"{path}:8: blur reads x(i + 2) outside x: at i = ")
    assert "    blur.defn = [x(i - 1) + x(i + 2)]\n" in done.err
    assert "Traceback" not in done.err
    done = run("explain", program(BLUR.replace("x(i + 1)", "x(i, 1)")))
    assert (done.status, done.err.splitlines()[0]) == (1, f"{path}:8: x has 1 dimension, got 2 indices")


def test_an_error_of_the_command_has_no_location(program: Write) -> None:
    path = program(BLUR + "pipeline = {'outputs': blur, 'inputs': []}\n")
    done = process("explain", f"{path}:pipeline")
    assert (done.returncode, done.stderr) == (1, "inputs= lacks x, which the outputs read\n")


def test_the_traceback_of_a_users_exception_begins_in_the_users_file(run: Run, program: Write) -> None:
    path = program(BLUR + FORMS)
    done = run("explain", f"{path}:divided")
    assert done.status == 1
    assert done.err.splitlines()[1].lstrip().startswith(f'File "{path}"')
    assert done.err.rstrip().endswith("ZeroDivisionError: division by zero")
    done = run("explain", program("def f(:\n"))
    assert done.status == 1
    assert "SyntaxError" in done.err
    done = run("explain", program("import sys\nsys.exit(3)\n"))
    assert (done.status, done.err) == (1, f"{path} ended with sys.exit(3)\n")


def test_a_program_finds_the_modules_beside_it(run: Run, program: Write, tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_app.py").write_text(BLUR)
    path = program("import neighbour_of_app\nresult = neighbour_of_app.blur\n")
    assert run("dump", path, "--until", "fusion").out == "blur\n"
    done = run("dump", program(BLUR + "if __name__ == '__main__':\n    1 / 0\n"), "--until", "fusion")
    assert done.status == 0


def test_a_colon_in_the_file_name(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / "a:b.py"
    odd.write_text(BLUR)
    assert run("dump", str(odd), "--until", "fusion").out == "blur\n"
    assert run("dump", f"{odd}:blur", "--until", "fusion").out == "blur\n"


def test_cache_counts_and_clears(
    run: Run, program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "cache"
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(directory))
    empty = f"directory  {directory}\nmode       on\nentries    0\nsize       0 bytes of at most 512 MiB\n"
    empty += "tuned      0 programs, 0 bytes\n"
    assert run("cache").out == empty
    assert run("explain", program(BLUR)).status == 0
    assert "entries    2\n" in run("cache").out  # its library, and what all programs have in common
    assert run("cache", "--clear").out == f"removed 2 files from {directory}\n"
    assert run("cache").out == empty
    (directory / f"{'0' * 64}.so").touch()
    assert run("cache", "--clear").out == f"removed 1 file from {directory}\n"
    monkeypatch.setenv("POLYMAT_CACHE", "perhaps")
    done = run("cache")
    assert done.status == 1
    assert done.err == "POLYMAT_CACHE is 'perhaps'\nhint: it must be on, off or readonly\n"


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "polymat", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def topics(text: str) -> dict[str, str]:
    """What doctor says, by topic."""
    return {line[:12].strip(): line[12:] for line in text.splitlines() if not line.startswith(" ")}


def test_doctor_where_all_is_well(tmp_path: Path) -> None:
    done = process("doctor", POLYMAT_CACHE_DIR=str(tmp_path / "cache"), OMP_NUM_THREADS="2")
    assert (done.returncode, done.stderr) == (0, "")
    found = topics(done.stdout)
    assert found["polymat"] == pm.__version__
    assert found["threads"] == "2: OMP_NUM_THREADS is 2"
    assert found["cache"].startswith(f"on, {tmp_path / 'cache'}: 0 files, 0 bytes of at most 512 MiB")
    assert found["self-test"] == "compiled a pipeline, loaded it, and its numbers are right"
    topics_before = "polymat python machine caches calibration compiler flags BLAS FFT threads OpenMP results"
    assert list(found) == [*topics_before.split(), "cache", "self-test"]


@pytest.mark.parametrize(
    ("environment", "topic", "text"),
    [
        ({"POLYMAT_CC": "/nonexistent/cc"}, "compiler", "ToolchainError: the C compiler POLYMAT_CC="),
        ({"POLYMAT_CC": "/dev/null"}, "compiler", "ToolchainError: "),
        ({"POLYMAT_CC": "'"}, "compiler", "ToolchainError: "),
        ({"PATH": ""}, "flags", "ToolchainError: no C compiler found"),
        ({"POLYMAT_CACHE_DIR": "/dev/null/cache"}, "cache", "ToolchainError: cannot use the cache directory"),
        ({"POLYMAT_CACHE": "perhaps"}, "cache", "ToolchainError: POLYMAT_CACHE is 'perhaps'"),
        ({"POLYMAT_CACHE_LIMIT": "much"}, "cache", "ToolchainError: POLYMAT_CACHE_LIMIT is 'much'"),
        ({"TMPDIR": "/nonexistent", "POLYMAT_CACHE": "off"}, "self-test", ""),
    ],
)
def test_doctor_reports_what_is_broken(environment: dict[str, str], topic: str, text: str) -> None:
    done = process("doctor", **environment)
    assert done.stderr == ""
    assert "Traceback" not in done.stdout
    assert len(found := topics(done.stdout)) == 14
    if text:
        assert found[topic].startswith(f"error: {text}")
        assert done.returncode == 1


def test_doctor_obeys_strange_but_legal_settings(tmp_path: Path) -> None:
    done = process(
        "doctor",
        POLYMAT_CACHE="off",
        OMP_NUM_THREADS="many",
        OMP_THREAD_LIMIT="1",
        OMP_WAIT_POLICY="active",
        LD_LIBRARY_PATH=f"{tmp_path}:/nonexistent:",
        POLYMAT_LOG="nobody,,",
        HOME="/nonexistent",
    )
    found = topics(done.stdout)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr  # what remains there is libgomp's own word about "many"
    assert found["threads"].startswith("1: ")
    assert found["threads"].endswith("OMP_THREAD_LIMIT is 1")
    assert found["OpenMP"] == "idle threads wait as the environment says"
    assert found["cache"] == "off: every pipeline is compiled anew"


def test_log_names_the_levels_that_speak(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(BLUR)
    done = process(
        "dump", str(path), "--until", "fusion", POLYMAT_LOG="cache", POLYMAT_CACHE_DIR=str(tmp_path / "c")
    )
    assert (done.stdout, done.stderr) == ("blur\n", "")
    done = process("explain", str(path), POLYMAT_LOG="fusion,cache", POLYMAT_CACHE_DIR=str(tmp_path / "c"))
    assert {line.split(":")[0] for line in done.stderr.splitlines()} == {"polymat.fusion", "polymat.cache"}
    assert "polymat.cache: stored " in done.stderr


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(BLUR)
    command = f"'{sys.executable}' -m polymat dump '{path}' | true"
    done = subprocess.run(
        ["sh", "-c", command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
