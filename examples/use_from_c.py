"""Row sums of a matrix product as a shared library: saved once, then used from C, and from Python again."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

import polymat as pm
from polymat import Double, Int, Interval, Matrix, Op, Parameter, Reduce, Reduction, Variable

M, K, N = (Parameter(Int, name) for name in ("M", "K", "N"))
A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
i, j = Variable(Int, "i"), Variable(Int, "j")
rows, columns = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)

product = A @ B
sums = Reduction(([i], [rows]), ([i, j], [rows, columns]), Double, "sums")
sums.defn = [Reduce(sums(i), product(i, j), Op.Sum)]

PROGRAM = r"""
#include <stdio.h>
#include "row_sums.h"

int main(void)
{
    const double a[2 * 3] = {1, 2, 3, 4, 5, 6};
    const double b[3 * 2] = {1, 0, 0, 1, 1, 1};
    double sums[2];
    if (row_sums(a, b, sums, 2, 3, 2) != 0)
        return 1;
    printf("from C:      %g %g\n", sums[0], sums[1]);
    return 0;
}
"""

with tempfile.TemporaryDirectory() as name:
    directory = Path(name)
    pm.compile(sums, name="row_sums", inputs=[A, B]).save(directory)
    prototype = next(
        line for line in (directory / "row_sums.h").read_text().splitlines() if "int row_sums" in line
    )
    print("prototype:  ", prototype)

    (directory / "main.c").write_text(PROGRAM)
    link = ["-L.", "-lrow_sums", "-Wl,-rpath,$ORIGIN"]  # found beside the program, wherever that is run
    subprocess.run(["gcc", "-Wall", "-Werror", "main.c", *link, "-o", "main"], cwd=directory, check=True)
    print(subprocess.run([directory / "main"], check=True, capture_output=True, text=True).stdout, end="")

    row_sums = pm.load(directory / "row_sums.json")
    a, b = np.arange(1.0, 7.0).reshape(2, 3), np.array([[1.0, 0], [0, 1], [1, 1]])
    print("from Python:", *(f"{value:g}" for value in row_sums(a, b)))
