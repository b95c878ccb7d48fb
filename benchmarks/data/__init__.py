"""Programs whose indices or steps are data: counts, sparse products, tables, cells and filters over time."""

from __future__ import annotations

from benchmarks.data import histogram, kalman, lookup, recurrent_cell, sparse_product
from benchmarks.program import Program

PREFIX = "data_"  # of the problems of tasks
PROGRAMS: tuple[Program, ...] = (
    histogram.BYTES,
    histogram.REALS,
    sparse_product.BANDED,
    sparse_product.RANDOM,
    sparse_product.UNEVEN,
    sparse_product.COLUMNS,
    lookup.PROGRAM,
    recurrent_cell.PROGRAM,
    kalman.PROGRAM,
)


def find_program(name: str) -> Program:
    """The program of that name."""
    (found,) = (program for program in PROGRAMS if program.name == name)
    return found
