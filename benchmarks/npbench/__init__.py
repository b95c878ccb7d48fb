"""NPBench's programs that PolyBench has not, as a user would write them, each beside NumPy."""

from __future__ import annotations

from benchmarks.npbench import (
    arc_distance,
    azimint,
    cavity_flow,
    channel_flow,
    compute,
    contour_integral,
    conv2d_bias,
    crc16,
    go_fast,
    hdiff,
    lenet,
    mandelbrot,
    mlp,
    nbody,
    resnet,
    scattering_self_energies,
    softmax,
    spmv,
    stockham_fft,
    vadv,
)
from benchmarks.program import Program

PREFIX = "npbench_"  # of the problems of tasks: there are other programs called softmax
PROGRAMS: tuple[Program, ...] = (
    hdiff.PROGRAM,
    vadv.PROGRAM,
    cavity_flow.PROGRAM,
    nbody.PROGRAM,
    mandelbrot.PROGRAM,
    mandelbrot.TWO,
    arc_distance.PROGRAM,
    compute.PROGRAM,
    go_fast.PROGRAM,
    azimint.PROGRAM,
    azimint.HIST,
    crc16.PROGRAM,
    spmv.PROGRAM,
    scattering_self_energies.PROGRAM,
    softmax.PROGRAM,
    mlp.PROGRAM,
    conv2d_bias.PROGRAM,
    lenet.PROGRAM,
    resnet.PROGRAM,
    channel_flow.PROGRAM,
    contour_integral.PROGRAM,
    stockham_fft.PROGRAM,
)


def find_program(name: str) -> Program:
    """The program of that name."""
    (found,) = (program for program in PROGRAMS if program.name == name)
    return found
