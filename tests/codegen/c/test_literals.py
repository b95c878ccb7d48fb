"""Constants in C: the same bits as in NumPy."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polymat import Complex, ComplexFloat, Double, Float, Int, Int8, Long, Short, UChar, UInt, UInt16, UInt64
from polymat.codegen.c.literals import literal
from polymat.codegen.c.render import expression
from polymat.runtime.toolchain import compile_shared, find_compiler

REALS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e22, 1e-45, 5e-324, 2.0**-149, 1.7976931348623157e308, math.pi]
REALS += [math.inf, -math.inf]


def ends(kind: Any) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    limits = np.iinfo(kind.dtype)
    return int(limits.min), int(limits.max)


TYPES: dict[Any, list[Any]] = {
    Double: REALS,
    Float: [float(np.float32(value)) for value in REALS if not 1e39 < abs(value) < math.inf],
    Complex: [complex(-0.0, math.inf), complex(0.1, -0.0), 1j],
    ComplexFloat: [complex(1.5, -2.0)],
    **{kind: [0, 1, *ends(kind)] for kind in (Int8, UChar, Short, UInt16, Int, Long, UInt64)},
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_bits_of_constants(dtype: Any, tmp_path: Path) -> None:
    expected = np.array(TYPES[dtype], dtype.dtype)
    texts = ",\n".join(expression(literal(value, dtype)) for value in TYPES[dtype])
    source = f"#include <stdint.h>\n{dtype.c} values[] = {{\n{texts}\n}};\n"
    flags = ("-O0", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")
    compile_shared(source, tmp_path / "values.so", find_compiler(), flags)
    library = ctypes.CDLL(str(tmp_path / "values.so"))
    found = (ctypes.c_char * expected.nbytes).in_dll(library, "values").raw
    assert found == expected.tobytes()


@pytest.mark.parametrize("dtype", [Int, UInt, Long], ids=str)
def test_constants_have_the_size_of_their_type(dtype: Any, tmp_path: Path) -> None:
    """Minus 2147483648 has 64 bits in C, where sums with it would not wrap around."""
    sizes = [f"sizeof({expression(literal(value, dtype))})" for value in (0, 1, *ends(dtype))]
    asserted = "\n".join(f'_Static_assert({size} == sizeof({dtype.c}), "{size}");' for size in sizes)
    compile_shared(f"#include <stdint.h>\n{asserted}\n", tmp_path / "sizes.so", find_compiler(), ("-shared",))


@pytest.mark.parametrize("dtype", [Float, Double])
def test_what_is_no_number_stays_none(dtype: Any) -> None:
    assert expression(literal(math.nan, dtype)) == f'__builtin_nan{"f" if dtype is Float else ""}("")'
