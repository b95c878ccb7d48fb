"""Names that C, its library or its headers already use: as arrays, sizes, scalars, variables and stages."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, Parameter, Variable, Vector

MACROS = """
    I NULL NAN INFINITY EOF M_PI HUGE_VAL INT_MAX PTRDIFF_MAX BUFSIZ MADV_HUGEPAGE CPU_SET linux unix
    i386 assert errno complex stdin stdout offsetof isnan max min va_list alloca _OPENMP M_PIf M_LN2l
    _STDIO_H _X CLOCK_TAI st_atime sa_handler si_pid sched_priority sigmask math_errhandling atomic_load
"""
TYPES = """
    size_t ptrdiff_t int32_t uint8_t wchar_t time_t FILE pthread_t cpu_set_t timespec uint
"""
FUNCTIONS = """
    exp sin fmod floor sqrt pow fabs abs malloc free memcpy printf omp_get_max_threads posix_memalign
    madvise sched_getcpu clock_gettime main y1 j0 gamma index environ signgam
"""
NAMES = (MACROS + TYPES + FUNCTIONS).split()
STRICT = pm.Options(cflags=("-O0", "-Wall", "-Wextra", "-Werror"), inline=False, fuse=False)
N = Parameter(Int, "N")
i = Variable(Int, "i")
x = Vector(Double, "x", [N])
whole = Interval(Int, 0, N - 1)


def function(name: str, value: Any, variable: Variable = i) -> Function:
    f = Function(([variable], [whole]), Double, name)
    f.defn = [value]
    return f


def wild(value: Any) -> Any:
    """What needs the C library and polymat's own functions."""
    return pm.Exp(pm.Sin(value)) % 2.5 + pm.Max(value, pm.Floor(value))


def arrays() -> Any:
    return function("f", sum(Vector(Double, name, [N])(i) for name in NAMES))


def sizes() -> Any:
    named = [Parameter(Int, name) for name in NAMES]
    vectors = [Vector(Double, f"v{k}", [size]) for k, size in enumerate(named)]
    f = Function(([i], [Interval(Int, 0, sum(named) - 1)]), Double, "f")
    guards = [pm.Select(pm.Condition(i, "<", s), v(i) + s, 0.0) for v, s in zip(vectors, named, strict=True)]
    f.defn = [wild(sum(guards))]
    return f


def scalars() -> Any:
    return function("f", wild(x(i)) + sum(Parameter(Double, name) for name in NAMES))


def variables() -> Any:
    last = function("f0", wild(x(i)))
    for k, name in enumerate(NAMES, 1):
        v = Variable(Int, name)
        last = function(f"f{k}", last(N - 1 - v) + v, v)
    return last


def stages() -> Any:
    last = function("f0", wild(x(i)))
    for name in NAMES:
        last = function(name, last(N - 1 - i) * 0.5 + pm.Sin(x(i)))
    return function("f", last(i))


@pytest.mark.parametrize("make", [arrays, sizes, scalars, variables, stages])
def test_names_of_the_c_library(make: Callable[[], Any]) -> None:
    compiled = pm.compile(make(), name="pipeline", options=STRICT)
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {array.name: rng.normal(size=3) for array in compiled.signature.inputs}
    given.update((scalar.name, rng.normal()) for scalar in compiled.signature.scalars)
    np.testing.assert_allclose(compiled(**given), compiled.reference(**given), rtol=1e-12)


@pytest.mark.parametrize("name", ["exp", "main", "malloc", "printf", "omp_get_max_threads", "GOMP_barrier"])
def test_a_library_exports_no_function_of_the_c_library(name: str) -> None:
    with pytest.raises(pm.InvalidNameError, match="cannot name a pipeline"):
        pm.compile(function(name, x(i)))


@pytest.mark.parametrize("name", ["_OPENMP", "M_PIf", "M_LN2l", "_STDIO_H", "CLOCK_TAI"])
def test_a_pipeline_with_the_name_of_a_macro(name: str) -> None:
    np.testing.assert_array_equal(pm.compile(function("f", x(i) + 1), name=name)(np.ones(2)), [2.0, 2.0])


@pytest.mark.parametrize("name", ["isless", "st_atime", "atomic_load"])
def test_a_pipeline_whose_header_could_not_be_read(name: str) -> None:
    with pytest.raises(pm.InvalidNameError, match=f"'{name}' cannot name a pipeline: a macro of C's headers"):
        pm.compile(function("f", x(i) + 1), name=name)


def test_a_header_behind_those_that_define_its_names(tmp_path: Path) -> None:
    arrays = [Vector(Double, name, [N]) for name in ("I", "M_PI", "M_PIf", "x")]
    alpha = Parameter(Double, "_OPENMP")
    f = function("f", arrays[0](i) + arrays[1](i) + arrays[2](i) + arrays[3](i) * alpha)
    compiled = pm.compile(f, inputs=arrays)
    assert "const double * /* M_PI */" in compiled.header.replace("\n", " ")
    assert "double *f, ptrdiff_t N, double /* _OPENMP */);" in compiled.header
    program = tmp_path / "program.c"
    program.write_text(f"#include <complex.h>\n#include <math.h>\n{compiled.header}")
    command = ["gcc", "-fopenmp", "-fsyntax-only", "-Wall", "-Werror", str(program)]
    subprocess.run(command, check=True)


def test_an_array_a_variable_and_a_stage_of_one_name() -> None:
    """Different things of the C code; the user's own clash only where a call would."""
    same = Variable(Int, "x")
    f = function("f", x(i) + 1)
    g = Function(([same], [whole]), Double, "i")
    g.defn = [f(same) * 2]
    compiled = pm.compile(g, name="N_", options=STRICT)
    assert compiled(np.ones(2)).tolist() == [4.0, 4.0]
