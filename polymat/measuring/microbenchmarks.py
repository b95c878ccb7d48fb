"""The C program that measures a machine: sweeps over data, multiply-adds, parallel regions."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.kernels import kernel_text
from polymat.codegen.c.needs import Piece
from polymat.codegen.products.blockshape import Shape
from polymat.machine.model import Machine
from polymat.measuring.blockbench import block_text
from polymat.measuring.programs import calibration_head, calibration_texts
from polymat.product.blocks import register_family

NEEDS = frozenset({Piece.TEAM})
_KERNELS = ("clock", "sink", "timed", "sweeps", "arithmetic", "loops", "regions")


def accumulators(machine: Machine) -> int:
    """Independent multiply-adds in a step of `pm_flops32` and `pm_flops64`."""
    return 24 if machine.vector_registers >= 32 else 12


def block_shapes(machine: Machine) -> tuple[Shape, ...]:
    """The register blocks that are measured, of both precisions."""
    return tuple(
        Shape(suffix, machine.vector_bits // 8, rows, vectors)
        for suffix in ("f32", "f64")
        for rows, vectors in register_family(machine)
    )


def source(machine: Machine, shapes: Sequence[Shape]) -> str:
    """The measuring program for the vectors of a machine, and for these register blocks."""
    macros = {"VECTOR_BYTES": machine.vector_bits // 8, "ACCUMULATORS": accumulators(machine)}
    texts = [kernel_text("shuffles"), *calibration_texts(_KERNELS, macros)]
    return "\n".join([calibration_head(NEEDS, _KERNELS), *texts, block_text(shapes) if shapes else ""])
