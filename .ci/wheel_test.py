"""Tries an installed polymat out: compiles, saves, loads and calls, from a directory without the sources.

python wheel_test.py save DIRECTORY   needs a C compiler
python wheel_test.py load DIRECTORY   needs none
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import polymat as pm

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


def save(directory: str) -> None:
    M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
    a, b = pm.Matrix(pm.Double, "a", [M, K]), pm.Matrix(pm.Double, "b", [K, N])
    compiled = pm.compile((a @ b).named("product"), inputs=[a, b])
    assert np.array_equal(compiled(A, B), A @ B)
    compiled.save(directory)


def load(directory: str) -> None:
    assert np.array_equal(pm.load(Path(directory) / "product.json")(A, B), A @ B)


def main(arguments: list[str]) -> None:
    os.environ.setdefault("POLYMAT_CALIBRATE", "off")
    steps, directory = arguments or ["save", "load"], tempfile.mkdtemp()
    if arguments:
        steps, directory = arguments[:1], arguments[1]
    for step in steps:
        {"save": save, "load": load}[step](directory)
    print("polymat", pm.__version__, *steps, "from", os.path.dirname(pm.__file__))


if __name__ == "__main__":
    main(sys.argv[1:])
