"""What `compile()` refuses of its arguments, and which names a pipeline may have."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Double, Function, Int, Interval, Matrix, Parameter, Variable, Vector
from polymat.runtime.target import UsageError, load_target
from tests.errors.told import told

N, M = Parameter(Int, "N"), Parameter(Int, "M")
alpha = Parameter(Double, "alpha")
i = Variable(Int, "i")
x, y = Vector(Double, "x", [N]), Vector(Double, "y", [M])
A = Matrix(Double, "A", [N, N])
f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f")
f.defn = alpha * x(i)
NOT_ITS_NAME = "hint: the Parameter itself, not its name: {{N: 128}}"
LINE = "    pm.compile(outputs, **keywords)\n"


def refused(error: type[pm.PolymatError], outputs: Any, **keywords: Any) -> str:
    """The text of the error without its second line, which is always the same."""

    def program() -> None:
        pm.compile(outputs, **keywords)

    text = told(error, program)
    assert LINE in text + "\n"
    return (text + "\n").replace(LINE, "").rstrip()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([], "there are no outputs to compile"),
        ((), "there are no outputs to compile"),
        (x, "x is an input: there is nothing to compute"),
        ([f, A], "A is an input: there is nothing to compute"),
        (None, "an output is a function, a reduction or a matrix result, got NoneType None"),
        (f(i), "an output is a function, a reduction or a matrix result, got f(i)"),
        ([[f]], "an output is a function, a reduction or a matrix result, got list [<Function f: Double..."),
        ({f: 1}, "an output is a function, a reduction or a matrix result, got dict {<Function f: Double..."),
        ("f", "an output is a function, a reduction or a matrix result, got str 'f'"),
        (N, "an output is a function, a reduction or a matrix result, got N"),
    ],
)
def test_outputs(outputs: Any, message: str) -> None:
    text = refused(pm.LangError, outputs)
    assert text == message or (message.endswith("...") and text.startswith(message[:-3]))


def test_an_output_twice() -> None:
    assert refused(pm.NameClashError, [f, f]) == "the output f is listed twice"


@pytest.mark.parametrize(
    ("error", "inputs", "message"),
    [
        (pm.LangError, [], "inputs= lacks x, which the outputs read"),
        (pm.LangError, [alpha, y], "inputs= lacks x, which the outputs read"),
        (pm.LangError, [x, f], "inputs= lists input arrays and parameters, got f"),
        (pm.LangError, ["x"], "inputs= lists input arrays and parameters, got str 'x'"),
        (pm.LangError, [x, None], "inputs= lists input arrays and parameters, got NoneType None"),
        (
            pm.LangError,
            [x, np.zeros(3)],
            "inputs= lists input arrays and parameters, got ndarray array([0., 0., 0.])",
        ),
        (pm.NameClashError, [x, x], "inputs= lists x twice"),
        (pm.NameClashError, [alpha, x, alpha], "inputs= lists alpha twice"),
        (
            pm.LangError,
            x,
            "inputs= is a list of input arrays and parameters, got x\nhint: inputs=[A, B]",
        ),
        (
            pm.LangError,
            {"x": x},
            "inputs= is a list of input arrays and parameters, got dict {'x': <Vector x: Double, rank 1>}\n"
            "hint: inputs=[A, B]",
        ),
        (
            pm.LangError,
            [x, N],
            "inputs= lists N, which dimension 0 of x sets\nhint: sizes that a shape shows are never passed",
        ),
    ],
)
def test_inputs(error: type[pm.PolymatError], inputs: Any, message: str) -> None:
    assert refused(error, f, inputs=inputs) == message


@pytest.mark.parametrize("word", ["sizes", "estimates"])
@pytest.mark.parametrize(
    ("error", "sizes", "message"),
    [
        (
            pm.LangError,
            [N],
            "={word} maps Parameters to integers, got list [Parameter(Int, 'N')]\nhint: {{N: 128}}",
        ),
        (pm.LangError, 128, "={word} maps Parameters to integers, got 128\nhint: {{N: 128}}"),
        (
            pm.LangError,
            {"N": 128},
            f"={{word}} maps Parameters to integers, got the key str 'N'\n{NOT_ITS_NAME}",
        ),
        (pm.LangError, {x: 128}, f"={{word}} maps Parameters to integers, got the key x\n{NOT_ITS_NAME}"),
        (pm.DtypeError, {N: 1.5}, "={word} gives N the value 1.5: an integer is needed"),
        (pm.DtypeError, {N: "3"}, "={word} gives N the value str '3': an integer is needed"),
        (pm.DtypeError, {N: True}, "={word} gives N the value bool True: an integer is needed"),
        (pm.DtypeError, {N: np.True_}, "={word} gives N the value bool np.True_: an integer is needed"),
        (pm.DtypeError, {N: None}, "={word} gives N the value NoneType None: an integer is needed"),
        (pm.DtypeError, {N: math.nan}, "={word} gives N the value nan: an integer is needed"),
        (pm.DtypeError, {N: M}, "={word} gives N the value M: an integer is needed"),
        (pm.DtypeError, {alpha: 3}, "={word} gives alpha the value 3: it is a Double, not a size"),
        (pm.LangError, {N: -1}, "={word} gives N the value -1, not in 0 .. 2**48 - 1"),
        (pm.LangError, {N: 2**48}, "={word} gives N the value 281474976710656, not in 0 .. 2**48 - 1"),
        (pm.NameClashError, {N: 1, Parameter(pm.Long, "N"): 2}, "={word} gives N two values"),
    ],
)
def test_sizes_and_estimates(error: type[pm.PolymatError], sizes: Any, message: str, word: str) -> None:
    assert refused(error, f, **{word: sizes}) == message.format(word=word).replace(f"={word}", f"{word}=")


@pytest.mark.parametrize(
    ("constraints", "shown"),
    [(None, "NoneType None"), (3, "3"), ([True], "list [True]"), ("N > 3", "str 'N > 3'"), (x, "x")],
)
def test_constraints_that_are_none(constraints: Any, shown: str) -> None:
    assert refused(pm.LangError, f, constraints=constraints) == (
        f'constraints= lists conditions on sizes, got {shown}\nhint: constraints=[Condition(N, ">=", 16)]'
    )
    assert refused(pm.LangError, f, constraints=Condition(N, ">", 3)).startswith("constraints= lists ")


def test_constraints_on_other_things() -> None:
    def of_a_variable() -> None:
        pm.compile(f, constraints=[Condition(i, ">", 3)])

    def of_a_scalar() -> None:
        pm.compile(f, constraints=[Condition(alpha, ">", 3)])

    def of_two_kinds() -> None:
        pm.compile(f, constraints=[Condition(N, "!=", 3)])

    assert told(pm.UndefinedError, of_a_variable).startswith(
        "a constraint is on sizes, and i is none: i > 3\n"
    )
    assert told(pm.NotAffineError, of_a_scalar).startswith("not affine: the parameter alpha is a Double, ")
    assert told(pm.LangError, of_two_kinds).startswith(
        "a constraint is one comparison of sizes, got N != 3\n"
    )


def test_constraints_that_nothing_meets() -> None:
    both = [Condition(N, ">", 5), Condition(N, "<", 3)]
    assert refused(pm.LangError, f, constraints=both) == "no sizes meet all of these: N > 5, N < 3"
    message = "no sizes meet all of these: N > 5"
    assert refused(pm.LangError, f, sizes={N: 3}, constraints=both[:1]) == message


@pytest.mark.parametrize(("trim", "shown"), [(1, "1"), (None, "NoneType None"), ("yes", "str 'yes'")])
def test_trim(trim: Any, shown: str) -> None:
    assert refused(pm.LangError, f, trim=trim) == f"trim= is True or False, got {shown}"


def wrong(**fields: Any) -> pm.Options:
    return pm.Options(**fields)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (None, "options= is an Options, got NoneType None\nhint: options=Options(threads=2)"),
        ({"threads": 2}, "options= is an Options, got dict {'threads': 2}\nhint: options=Options(threads=2)"),
    ],
)
def test_options(options: Any, message: str) -> None:
    assert refused(pm.LangError, f, options=options) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            dict(threads=2.0),
            "Options.threads is 2.0, not an integer in 0 .. 2**31 - 1\nhint: the default is 0",
        ),
        (
            dict(threads=-1),
            "Options.threads is -1, not an integer in 0 .. 2**31 - 1\nhint: the default is 0",
        ),
        (
            dict(threads=2**31),
            "Options.threads is 2147483648, not an integer in 0 .. 2**31 - 1\nhint: the default is 0",
        ),
        (
            dict(threads=4097),
            "Options.threads is 4097: an integer from 1 to 4096 is needed\n"
            "hint: or 0, the default, for as many as set_num_threads says",
        ),
        (
            dict(bands=65),
            "Options.bands is 65: an integer from 2 to 64 is needed\n"
            "hint: or 0, the default, for as many as pay: each step of a band has code of its own",
        ),
        (
            dict(parallel_threshold=0.5),
            "Options.parallel_threshold is 0.5, not an integer in 0 .. 2**31 - 1 or None\n"
            "hint: the default is None",
        ),
        (
            dict(scheme=(("C", "[R(i), R(j)]"), ("D", "[R(i)]"), ("C", "[R(j), R(i)]"))),
            "Options.scheme has 'C' twice\nhint: one text a stage",
        ),
        (dict(inline=1), "Options.inline is 1, not True or False\nhint: the default is True"),
        (
            dict(cflags=["-g"]),
            "Options.cflags is ['-g'], not a tuple of strings\nhint: the default is ()",
        ),
        (
            dict(cflags=("-g", 3)),
            "Options.cflags is ('-g', 3), not a tuple of strings\nhint: the default is ()",
        ),
    ],
)
def test_values_that_options_do_not_take(fields: dict[str, Any], message: str) -> None:
    """Said where they are written."""
    said, quoted, hint = told(pm.LangError, lambda: wrong(**fields)).split("\n")
    assert (f"{said}\n{hint}", quoted) == (message, "    return pm.Options(**fields)")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"fft_rigour": "measure", "fft": "never"}, "fft='never' calls no library"),
        ({"fir": "blocks", "fft": "never"}, "fft='never' calls no transforms"),
        ({"fir": "whole", "cost": "paper"}, "cost='paper' has no transforms"),
        ({"blocks": "working-sets", "kernels": False}, "kernels=False leaves register blocks out"),
    ],
)
def test_options_to_which_another_one_leaves_nothing(fields: dict[str, Any], why: str) -> None:
    message = told(pm.OptionError, lambda: wrong(**fields))
    said, quoted, hint = message.split("\n")
    name, value = next(iter(fields.items()))
    assert said == f"Options.{name}={value!r} has no effect: {why}"
    assert (quoted, hint) == ("    return pm.Options(**fields)", "hint: leave one of the two out")
    assert pm.Options(fft="never", fft_rigour="estimate").fft == "never"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("thread", "did you mean threads?"),
        ("tilesizes", "did you mean tile_sizes?"),
        ("x", "it has threads, "),
    ],
)
def test_options_that_are_not_there(name: str, hint: str) -> None:
    message = told(pm.OptionError, lambda: wrong(**{name: 1}))
    assert message.startswith(f"Options has no '{name}'\n    return pm.Options(**fields)\nhint: {hint}")
    assert issubclass(pm.OptionError, TypeError)
    unknown: dict[str, Any] = {name: 1}
    replaced = told(pm.OptionError, lambda: replace(pm.Options(), **unknown))
    assert replaced.startswith(f"Options has no '{name}'\n    replaced = told(")


def test_numbers_of_numpy_are_options() -> None:
    options = pm.Options(threads=np.int64(2), fuse=np.bool_(False), cflags=())  # type: ignore[arg-type]
    compiled = pm.compile(f, options=options)
    assert compiled(np.ones(5), alpha=1.0).tolist() == [1.0] * 5
    assert compiled.source == pm.compile(f, options=pm.Options(threads=2, fuse=False)).source


def test_sizes_that_the_pipeline_lacks() -> None:
    message = "sizes= gives a value for K, which is no parameter of this pipeline\nhint: its parameters: "
    assert refused(pm.LangError, f, sizes={Parameter(pm.Int, "K"): 3}) == message + "N, alpha"
    one = pm.Function(([i], [pm.Interval(pm.Int, 0, 3)]), pm.Double, "one")
    one.defn = [1.0]
    assert refused(pm.LangError, one, sizes={N: 3}).endswith("hint: it has no parameters")


def test_estimates_that_the_pipeline_lacks_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="polymat.built"):
        compiled = pm.compile(f, estimates={Parameter(pm.Int, "K"): 3, N: 8})
    assert "estimates= without effect: K" in caplog.messages
    assert compiled.source == pm.compile(f, estimates={N: 8}).source


@pytest.mark.parametrize("flag", ["-Ofast", "-ffast-math"])
def test_flags_that_would_change_the_process_are_taken_apart(flag: str) -> None:
    compiled = pm.compile(f, options=pm.Options(cflags=(flag,)))
    assert compiled(np.array([5e-324]), alpha=1.0)[0] == 5e-324


def test_flags_that_cannot_be_taken_apart() -> None:
    with pytest.raises(pm.ToolchainError, match=r"-mdaz-ftz' may change the floating-point mode"):
        pm.compile(f, options=pm.Options(cflags=("-mdaz-ftz",)))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        ("2x", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        ("a b", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        ('a"b', "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        ("a\nb", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        ("a\n", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        (
            "a\u202eb",
            "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit",
        ),
        ("*/", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        ("../x", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        (
            "$(true)",
            "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit",
        ),
        ("x\0", "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit"),
        (
            "größe",
            "not an ASCII identifier\nhint: letters, digits and underscores, not starting with a digit",
        ),
        ("n" * 64, "64 characters, at most 63"),
        ("_pm_x", "names starting with _pm_ are polymat's own"),
        ("while", "a C keyword\nhint: while_, say"),
        ("_Bool", "a C keyword\nhint: _Bool_, say"),
        ("malloc", "the C library has a function of that name\nhint: malloc_pm, say"),
        ("sin", "the C library has a function of that name\nhint: sin_pm, say"),
        ("main", "the C library has a function of that name\nhint: main_pm, say"),
        (
            "omp_get_max_threads",
            "the C library has a function of that name\nhint: omp_get_max_threads_pm, say",
        ),
    ],
)
def test_names_of_pipelines(name: str, reason: str) -> None:
    shown = f"'{name}'" if name.isidentifier() and name.isascii() else ascii(name)
    assert refused(pm.InvalidNameError, f, name=name) == f"{shown} cannot name a pipeline: {reason}"


@pytest.mark.parametrize("name", [3, b"f", ["f"], True])
def test_names_that_are_no_strings(name: Any) -> None:
    message = f"the name of a pipeline must be a string, got {type(name).__name__}"
    assert refused(pm.InvalidNameError, f, name=name) == message


@pytest.mark.parametrize("name", ["malloc", "sin", "NULL", "stdin", "errno", "INT_MAX", "printf", "n" * 63])
def test_inside_a_pipeline_any_identifier_is_a_name(name: str) -> None:
    source = Vector(Double, name, [N])
    index = Variable(Int, name)
    g = Function(([index], [Interval(Int, 0, N - 1)]), Double, "g")
    g.defn = source(index) + pm.Sin(source(N - 1 - index))
    values = np.linspace(0, 1, 5)
    compiled = pm.compile(g, name="any_identifier")
    assert np.allclose(compiled(values), values + np.sin(values[::-1]))


def test_a_colon_without_a_name(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(
        "import polymat as pm\nx = pm.Vector(pm.Double, 'x', [3])\ntwice = (x + x).named('twice')\n"
    )
    with pytest.raises(UsageError) as caught:
        load_target(f"{file}:")
    assert str(caught.value) == f"the name after the colon of {file}: is missing\nhint: it has twice"
