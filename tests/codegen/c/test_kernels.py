"""The headers of C written by hand: each compiles alone, and is no longer than Python may be."""

import itertools
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from polymat.codegen.c.kernels import (
    FOLDER,
    element_macros,
    has_word,
    kernel,
    kernel_headers,
    kernel_text,
    named,
)
from polymat.codegen.functionlimits import MOST_ARGUMENTS, MOST_LINES
from polymat.errors import InternalError

NAMES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.h"))
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
WARNINGS = ["-std=gnu11", "-fopenmp", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]
WARNINGS += ["-Wshadow", "-Wno-unused-function", "-Wno-psabi", "-Wno-unknown-attributes"]
# Functions that are longer, and those with more arguments, by header: to become fewer.
LONG: dict[str, int] = {}
WIDE: dict[str, int] = {}
# What clang has no header of OpenMP for, where it came without one.
OPENMP = """\
#pragma once
typedef enum { omp_pause_hard } omp_pause_resource_t;
int omp_get_thread_num(void), omp_get_num_threads(void), omp_in_parallel(void), omp_get_level(void);
int omp_pause_resource_all(omp_pause_resource_t);
"""


def taken(name: str) -> dict[str, tuple[str, ...]]:
    """The macros of a header and of those that it uses, with the values to compile it with."""
    found = kernel(name)
    every: dict[str, tuple[str, ...]] = {}
    for used in found.kernels:
        every |= taken(used)
    return every | dict(found.takes)


def pairwise(choices: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """As few of all combinations of a value of each choice as have every pair of values of two of them."""
    pairs = {
        each: {*itertools.combinations(enumerate(each), min(len(each), 2))}
        for each in itertools.product(*choices)
    }
    missing = set[object]().union(*pairs.values())
    while missing:
        best = max(pairs, key=lambda each: len(pairs[each] & missing))
        missing -= pairs[best]
        yield best


def instances(name: str) -> Iterator[dict[str, object]]:
    """Its macros with each choice of values, beside each of another's."""
    macros = taken(name)
    own = [macro for macro, values in macros.items() if values]
    of_type = [macro for macro, values in macros.items() if not values]
    unknown = set(of_type) - set(element_macros("f64"))
    assert not unknown, f"{name}.h says no value to be compiled with of {sorted(unknown)}"
    for suffix in ("f32", "f64") if of_type else ("f64",):
        for values in pairwise([macros[macro] for macro in own]):
            chosen = [value.split(" / ")[-1 if suffix == "f64" else 0] for value in values]
            given = {macro: element_macros(suffix)[macro] for macro in of_type}
            yield given | dict(zip(own, chosen, strict=True))


def targets(name: str) -> Iterator[list[str]]:
    """The processors to compile a header for: where it names one, for that as well."""
    if platform.machine() in ("x86_64", "AMD64"):
        yield ["-march=x86-64-v3"]
        if "AVX512" in kernel(name).text:
            yield ["-march=x86-64-v4"]
    else:
        yield []


@pytest.mark.covering
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", NAMES)
def test_compiles_alone(name: str, compiler: str, tmp_path: Path) -> None:
    (tmp_path / "omp.h").write_text(OPENMP)
    for count, macros in enumerate(instances(name)):
        source = tmp_path / f"{Path(name).name}_{count}.c"
        defined = "".join(f"#define {macro} {value}\n" for macro, value in macros.items())
        source.write_text(f'#define _GNU_SOURCE\n{defined}#include "{name}.h"\n')
        for target in targets(name):
            command = [
                compiler,
                *WARNINGS,
                *target,
                "-iquote",
                str(FOLDER),
                "-idirafter",
                str(tmp_path),
                str(source),
            ]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, f"{' '.join(command)}\n{defined}{ran.stderr}"


def test_pairs_of_values() -> None:
    found = [*pairwise([("a", "b"), ("c",), ("d", "e"), ("f", "g")])]
    assert len(found) == len({*found}) < 8
    for first, second in itertools.combinations(range(4), 2):
        assert len({(each[first], each[second]) for each in found}) == (2 if 1 in (first, second) else 4)
    assert [*pairwise([("a", "b")])] == [("a",), ("b",)]
    assert [*pairwise([])] == [()]


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_short(name: str) -> None:
    functions = functions_of(kernel(name).text)
    too_long = [function for function in functions if function.count("\n") + 1 > MOST_LINES]
    too_wide = [function for function in functions if arguments_of(function) > MOST_ARGUMENTS]
    assert len(too_long) == LONG.get(name, 0), [function.splitlines()[0] for function in too_long]
    assert len(too_wide) == WIDE.get(name, 0), [function.splitlines()[0] for function in too_wide]


def functions_of(text: str) -> list[str]:
    """The definitions of functions as clang-format lays them out: heads have one line at the left margin."""
    lines, found = text.splitlines(), []
    for begin in (number for number, line in enumerate(lines) if line == "{"):
        head = next(k for k in range(begin - 1, -1, -1) if lines[k][:1] not in ("", " "))
        found.append("\n".join(lines[head : lines.index("}", begin) + 1]))
    return found


def arguments_of(function: str) -> int:
    """How many arguments a function has."""
    head = function.partition("\n{")[0].rstrip()
    depth = count = 0
    for letter in reversed(head):
        depth += {")": 1, "(": -1}.get(letter, 0)
        count += letter == "," and depth == 1
        if depth == 0:
            break
    return count + 1


def test_functions_are_found() -> None:
    functions = functions_of(kernel("team").text)
    assert [arguments_of(function) for function in functions if "_paying(" in function.splitlines()[0]] == [4]
    functions = functions_of(kernel("teamapart").text)
    assert [function.count("\n") for function in functions if "_leave(" in function] == [8]


@pytest.mark.skipif(not (Path(".venv/bin/clang-format").exists()), reason="clang-format is not installed")
def test_is_formatted() -> None:
    command = [".venv/bin/clang-format", "--dry-run", "-Werror", *map(str, sorted(FOLDER.rglob("*.h")))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_text_has_no_head() -> None:
    text = kernel_text("place")
    assert text.startswith("/* An extent as a number of elements")
    assert "#include" not in text
    assert kernel_headers("place") == {"stddef.h", "stdint.h"}


def test_macros_are_defined_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polymat.codegen.c.kernels.FOLDER", tmp_path)
    (tmp_path / "made_up.h").write_text(
        "/* Something.\n\n   takes T  a type\n   takes NAME(name)  names\n   takes LANES=4|8  a number\n*/\n"
        '#pragma once\n\n#include <math.h>\n#include "place.h"\n\nT NAME(sum)(T x[LANES]);\n'
    )
    assert kernel("made_up").takes == (("T", ()), ("NAME(name)", ()), ("LANES", ("4", "8")))
    assert kernel("made_up").system == ("math.h",)
    assert kernel("made_up").kernels == ("place",)
    assert kernel_text("made_up", "f32", LANES=16) == (
        "#define T float\n#define LANES 16\nT _pm_sum_f32(T x[LANES]);\n#undef T\n#undef LANES\n"
    )


def test_macros_are_those_of_the_head() -> None:
    with pytest.raises(InternalError, match=r"place.h takes .*LANES"):
        kernel_text("place", LANES=4)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("T a", True),
        ("a T", True),
        ("(T)", True),
        ("T", True),
        ("AT TA T_ _T T1", False),
        ("AT T", True),
        ("AT", False),
        ("", False),
    ],
)
def test_words(text: str, found: bool) -> None:
    assert has_word(text, "T") == found


def test_names_are_written_out() -> None:
    text = "NAME(pack)(RENAME(x), NAME(a_1)) NAME(name)"
    assert named(text, "NAME", "_pm_##name##_f64") == "_pm_pack_f64(RENAME(x), _pm_a_1_f64) _pm_name_f64"
    assert named("MATH(floor)(x)", "MATH", "name##f") == "floorf(x)"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("version", [8, 9])
def test_choices_by_compilers_that_know_no_odds(version: int) -> None:
    source = f"{kernel_text('even')}\nint f(int a) {{ return _PM_EVEN(a > 3); }}\n"
    command = ["gcc", "-E", "-P", "-U__GNUC__", f"-D__GNUC__={version}", "-xc", "-"]
    made = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    assert ("__builtin_expect_with_probability" in made) == (version > 8)
