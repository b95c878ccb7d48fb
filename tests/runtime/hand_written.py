"""Small pipelines written in C by hand after polymat/codegen/c/abi.py, to test the call path alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from polymat.codegen.c.abi import Array, Row, Scalar, Signature, Size, mark
from polymat.runtime.compiled import Compiled

C_TYPES = {
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}

_PROLOGUE = """
#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#define ARRAY(i, type) ((type *)arrays[i])
#define SCALAR(i, type) (*(const type *)((const char *)scalars + 16 * (i)))
"""


def build(
    directory: Path, signature: Signature, body: str, *, work: str = "0", flags: tuple[str, ...] = ()
) -> Path:
    """Compile `body`, the inside of the entry function, to a library."""
    source = directory / f"{signature.name}.c"
    source.write_text(
        f"{_PROLOGUE}\n"
        "int _pm_entry(void *const *arrays, const ptrdiff_t *sizes, const void *scalars, int threads)\n"
        "{\n    (void)arrays; (void)sizes; (void)scalars; (void)threads;\n"
        f"{body}\n    return 0;\n}}\n"
        f"double _pm_work(const ptrdiff_t *sizes) {{ (void)sizes; return {work}; }}\n"
        f'const char _pm_signature[] = "{mark(signature)}";\n'
    )
    library = directory / f"lib{signature.name}.so"
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, "-o", str(library)]
    command += os.environ.get("HAND_WRITTEN_CFLAGS", "").split()
    subprocess.run([*command, str(source)], check=True)
    return library


def symbol(index: int, coefficient: int = 1, const: int = 0, divisor: int = 1) -> Row:
    """A row of one symbol."""
    return Row(const, ((index, coefficient),), divisor)


def vector(name: str, dtype: str = "float64", size: int = 0) -> Array:
    """A vector as long as the size with this index."""
    return Array(name, dtype, (symbol(size),))


def matrix(name: str, rows: int, columns: int, *, zero_fill: bool = False) -> Array:
    """A matrix over two sizes."""
    return Array(name, "float64", (symbol(rows), symbol(columns)), zero_fill)


def mm(directory: Path, **options: Any) -> Compiled:
    """C = A B."""
    signature = Signature(
        "mm",
        inputs=(matrix("A", 0, 1), matrix("B", 1, 2)),
        outputs=(matrix("C", 0, 2),),
        sizes=(Size("M", 0, 0), Size("K", 0, 1), Size("N", 1, 1)),
        order=("A", "B"),
    )
    body = """
    ptrdiff_t m = sizes[0], k = sizes[1], n = sizes[2];
    const double *a = ARRAY(0, double), *b = ARRAY(1, double);
    double *c = ARRAY(2, double);
    for (ptrdiff_t i = 0; i < m; i++) {
        for (ptrdiff_t j = 0; j < n; j++) c[i * n + j] = 0;
        for (ptrdiff_t l = 0; l < k; l++)
            for (ptrdiff_t j = 0; j < n; j++) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }"""
    work = "2.0 * (double)sizes[0] * (double)sizes[1] * (double)sizes[2]"
    return Compiled(build(directory, signature, body, work=work), signature, source=body, **options)


def axpy(directory: Path) -> Compiled:
    """Z = alpha X + Y, with alpha first; in place on either."""
    signature = Signature(
        "axpy",
        inputs=(vector("X"), vector("Y")),
        outputs=(vector("Z"),),
        sizes=(Size("N", 0, 0),),
        scalars=(Scalar("alpha", "float64"),),
        order=("alpha", "X", "Y"),
        inplace=((0, 0), (1, 0)),
    )
    body = """
    double alpha = SCALAR(0, double);
    for (ptrdiff_t i = 0; i < sizes[0]; i++)
        ARRAY(2, double)[i] = alpha * ARRAY(0, double)[i] + ARRAY(1, double)[i];"""
    return Compiled(build(directory, signature, body), signature)


def reverse(directory: Path) -> Compiled:
    """Y(i) = X(N - 1 - i): wrong when done in place."""
    signature = Signature(
        "reverse", inputs=(vector("X"),), outputs=(vector("Y"),), sizes=(Size("N", 0, 0),), order=("X",)
    )
    body = """
    if ((uintptr_t)arrays[0] % 8 != 0 || (uintptr_t)arrays[1] % 8 != 0) return 9;
    for (ptrdiff_t i = 0; i < sizes[0]; i++) ARRAY(1, double)[i] = ARRAY(0, double)[sizes[0] - 1 - i];"""
    return Compiled(build(directory, signature, body), signature)


def single(directory: Path, dtype: str = "float32") -> Compiled:
    """Y = 2 X, in single precision unless another element type is asked for."""
    signature = Signature(
        "single" if dtype == "float32" else f"twice_{dtype}",
        inputs=(vector("X", dtype),),
        outputs=(vector("Y", dtype),),
        sizes=(Size("N", 0, 0),),
        order=("X",),
    )
    body = f"""
    for (ptrdiff_t i = 0; i < sizes[0]; i++)
        ARRAY(1, {C_TYPES[dtype]})[i] = 2 * ARRAY(0, {C_TYPES[dtype]})[i];"""
    return Compiled(build(directory, signature, body), signature)


def lower(directory: Path) -> Compiled:
    """L = the lower triangle of the transpose of A; the rest of L is not written."""
    signature = Signature(
        "lower",
        inputs=(matrix("A", 0, 0),),
        outputs=(matrix("L", 0, 0, zero_fill=True),),
        sizes=(Size("N", 0, 0, least=1),),
        order=("A",),
    )
    body = """
    for (ptrdiff_t i = 0; i < sizes[0]; i++)
        for (ptrdiff_t j = 0; j <= i; j++)
            ARRAY(1, double)[i * sizes[0] + j] = ARRAY(0, double)[j * sizes[0] + i];"""
    return Compiled(build(directory, signature, body), signature)


def both(directory: Path) -> Compiled:
    """S = X + Y and D = X - Y."""
    signature = Signature(
        "both",
        inputs=(vector("X"), vector("Y")),
        outputs=(vector("S"), vector("D")),
        sizes=(Size("N", 0, 0),),
        order=("X", "Y"),
    )
    body = """
    for (ptrdiff_t i = 0; i < sizes[0]; i++) {
        double x = ARRAY(0, double)[i], y = ARRAY(1, double)[i];
        ARRAY(2, double)[i] = x + y;
        ARRAY(3, double)[i] = x - y;
    }"""
    return Compiled(build(directory, signature, body), signature)


def dot(directory: Path) -> Compiled:
    """R = S + X . Y, where S and R have no dimension."""
    signature = Signature(
        "dot",
        inputs=(vector("X"), vector("Y"), Array("S", "float64", ())),
        outputs=(Array("R", "float64", ()),),
        sizes=(Size("N", 0, 0),),
        order=("X", "Y", "S"),
        inplace=((2, 0),),
    )
    body = """
    double sum = *ARRAY(2, double);
    for (ptrdiff_t i = 0; i < sizes[0]; i++) sum += ARRAY(0, double)[i] * ARRAY(1, double)[i];
    *ARRAY(3, double) = sum;"""
    return Compiled(build(directory, signature, body), signature)


def halves(directory: Path) -> Compiled:
    """Y(i) = X(i) for i < N//2 + 1, where X has 2 N + 1 elements and N >= 2."""
    signature = Signature(
        "halves",
        inputs=(Array("X", "float64", (symbol(0, 2, 1),)),),
        outputs=(Array("Y", "float64", (symbol(1, 1, 1),)),),
        sizes=(Size("N", 0, 0),),
        derived=(symbol(0, divisor=2),),
        order=("X",),
        constraints=((symbol(0, const=-2), "N >= 2"),),
    )
    body = """
    for (ptrdiff_t i = 0; i < sizes[0] / 2 + 1; i++) ARRAY(1, double)[i] = ARRAY(0, double)[i];"""
    return Compiled(build(directory, signature, body), signature)


def measure(directory: Path, row: Row) -> Compiled:
    """Y = N, where X has as many elements as the row says; M is 5."""
    signature = Signature(
        "measure",
        inputs=(Array("Z", "float64", (symbol(0),)), Array("X", "float64", (row,))),
        outputs=(Array("Y", "int64", ()),),
        sizes=(Size("M", 0, 0), Size("N", 1, 0, least=-100)),
        order=("Z", "X"),
    )
    return Compiled(build(directory, signature, "    *ARRAY(2, int64_t) = sizes[1];"), signature)


def excess(directory: Path) -> Compiled:
    """Y(i) = 1 for i < (N - 3)//2 + 2."""
    signature = Signature(
        "excess",
        inputs=(vector("X"),),
        outputs=(Array("Y", "float64", (symbol(1, const=2),)),),
        sizes=(Size("N", 0, 0),),
        derived=(symbol(0, const=-3, divisor=2),),
        order=("X",),
    )
    body = """
    for (ptrdiff_t i = 0; i < (sizes[0] + 1) / 2; i++) ARRAY(1, double)[i] = 1;"""
    return Compiled(build(directory, signature, body), signature)


def fill(directory: Path) -> Compiled:
    """Y = T in 4 T elements, T given by name."""
    signature = Signature(
        "fill",
        inputs=(),
        outputs=(Array("Y", "float64", (symbol(0, 4),)),),
        sizes=(Size("T", least=1),),
    )
    body = """
    for (ptrdiff_t i = 0; i < 4 * sizes[0]; i++) ARRAY(0, double)[i] = (double)sizes[0];"""
    return Compiled(build(directory, signature, body), signature)


def echo(directory: Path, dtype: str) -> Compiled:
    """Y = the scalar `value`, one element of its dtype."""
    signature = Signature(
        f"echo_{dtype}",
        inputs=(),
        outputs=(Array("Y", dtype, (Row(1),)),),
        scalars=(Scalar("pad", "float64"), Scalar("value", dtype)),
        order=("value",),
    )
    body = f"    *ARRAY(0, {C_TYPES[dtype]}) = SCALAR(1, {C_TYPES[dtype]});"
    return Compiled(build(directory, signature, body), signature)


def total(directory: Path, count: int) -> Compiled:
    """Y = the sum of `count` vectors X0, X1, ..."""
    names = tuple(f"X{index}" for index in range(count))
    signature = Signature(
        f"total{count}",
        inputs=tuple(vector(name) for name in names),
        outputs=(vector("Y"),),
        sizes=(Size("N", 0, 0),),
        order=names,
    )
    body = f"""
    for (ptrdiff_t i = 0; i < sizes[0]; i++) {{
        double sum = 0;
        for (int j = 0; j < {count}; j++) sum += ARRAY(j, double)[i];
        ARRAY({count}, double)[i] = sum;
    }}"""
    return Compiled(build(directory, signature, body), signature)


def team(directory: Path, threads: int) -> Compiled:
    """Y = the number of threads the entry was given; `threads` as in `Options`."""
    signature = Signature("team", inputs=(), outputs=(Array("Y", "int64", ()),))
    return Compiled(
        build(directory, signature, "    *ARRAY(0, int64_t) = threads;"), signature, threads=threads
    )


def shared_out(directory: Path, threads: int = 0) -> Compiled:
    """Y = the number of threads of a parallel region that asks for as many as the entry was given."""
    signature = Signature("shared_out", inputs=(), outputs=(Array("Y", "int64", ()),))
    body = """
    int64_t count = 0;
    #pragma omp parallel num_threads(threads) reduction(+:count)
    count++;
    *ARRAY(0, int64_t) = count;"""
    return Compiled(build(directory, signature, body, flags=("-fopenmp",)), signature, threads=threads)


def sleeper(directory: Path) -> Compiled:
    """Sleep X(0) seconds; says that it works hard."""
    signature = Signature(
        "sleeper", inputs=(vector("X"),), outputs=(vector("Y"),), sizes=(Size("N", 0, 0),), order=("X",)
    )
    body = """
    usleep((unsigned)(1e6 * ARRAY(0, double)[0]));
    ARRAY(1, double)[0] = 1;"""
    return Compiled(build(directory, signature, body, work="1e6"), signature)


def exhausted(directory: Path) -> Compiled:
    """Runs out of memory."""
    signature = Signature("exhausted", inputs=(), outputs=(Array("Y", "int64", ()),))
    return Compiled(build(directory, signature, "    return 1;"), signature)
