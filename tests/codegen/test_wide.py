"""Programs for vectors of 512 bits are C for processors that have them, wherever the tests run."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

import polymat as pm
from polymat.codegen.program import Program
from polymat.codegen.units import render
from polymat.options import Options
from tests.codegen.kinds import KINDS, Asked
from tests.fixed import WIDE, compiled_levels

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="for x86 processors")
COMMAND = ("gcc", "-std=gnu11", "-fopenmp", "-O1", "-fsyntax-only", "-march=x86-64-v4", "-x", "c", "-")
LARGE = 24


def turned_product() -> Asked:
    """Few rows, many segments of columns, each short: results are transposed in registers."""
    sizes = {letter: pm.Parameter(pm.Int, f"n{letter}") for letter in "abcde"}
    a, b = (pm.Image(pm.Double, name, [sizes[k] for k in of]) for name, of in (("A", "dbea"), ("B", "ec")))
    product = pm.einsum("dbea,ec->abcd", a, b)
    return {"outputs": product, "inputs": [a, b], "estimates": {size: LARGE for size in sizes.values()}}


def transform_and_product() -> Asked:
    """A transform of rows and a product of the same element type."""
    rows, columns = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
    z, w = (pm.Matrix(pm.Complex, name, [rows, columns]) for name in "zw")
    return {"outputs": [pm.fft(z).named("spectra"), (z @ w.T).named("product")]}


def softmax_and_product() -> Asked:
    """Rows in explicit vectors and a product of the same element type."""
    rows, columns = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
    s, t = (pm.Matrix(pm.Float, name, [rows, columns]) for name in "st")
    e = pm.Exp(s)
    return {"outputs": [(e / e.sum(axis=1, keepdims=True)).named("shares"), (s @ t.T).named("product")]}


MIXED = {"turned": turned_product, "transform": transform_and_product, "softmax": softmax_and_product}


def text_of(asked: dict[str, Any]) -> str:
    program = compiled_levels(**{"options": Options(blas="never", fft="never"), **asked, "machine": WIDE})[
        "codegen"
    ]
    assert isinstance(program, Program)
    return render(program.file)


@pytest.mark.parametrize("kind", [*KINDS, *MIXED])
def test_a_compiler_takes_it(kind: str, tmp_path: Path) -> None:
    text = text_of(dict({**KINDS, **MIXED}[kind]()))
    ran = subprocess.run(COMMAND, input=text, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr[:4000]


def test_turned_products_are_among_them() -> None:
    text = text_of(dict(turned_product()))
    assert "_pm_turned_f64(" in text
    assert "_pm_eight_turned_f64(" in text
