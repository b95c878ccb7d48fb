"""Which register block a product gets: the model's, or what was measured to be clearly faster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.machine.calibrate import BlockRate
from polymat.machine.known import GENERIC, ZEN3
from polymat.machine.model import Machine
from polymat.product.blocks import blocks_of, modelled_block, register_block, register_family
from tests.machine.test_model import MEASURED

WIDE = replace(GENERIC, vector_bits=512, vector_registers=32)


def measured(machine: Machine, *rates: tuple[int, int, int, float]) -> Machine:
    """The machine with these blocks measured: bytes of an element, rows, vectors, operations a second."""
    return machine.with_calibration(replace(MEASURED, blocks=tuple(BlockRate(*rate) for rate in rates)))


@pytest.mark.parametrize("machine", [GENERIC, ZEN3, WIDE], ids=["generic", "zen3", "wide"])
def test_the_family_fits_the_registers_and_hides_the_latency(machine: Machine) -> None:
    family = register_family(machine)
    assert modelled_block(machine) in family
    assert len(set(family)) == len(family) > 5
    for rows, vectors in family:
        assert rows * vectors + vectors < machine.vector_registers
        assert rows * vectors >= machine.fma_units * machine.fma_latency


def test_without_measurements_the_model_decides() -> None:
    assert register_block(WIDE, 8) == modelled_block(WIDE) == (8, 3)
    assert register_block(measured(WIDE), 8) == (8, 3)
    assert register_block(measured(WIDE, (4, 14, 2, 99e9)), 8) == (8, 3)  # of the other precision


def test_noise_does_not_change_the_block() -> None:
    assert register_block(measured(WIDE, (8, 8, 3, 95e9), (8, 14, 2, 100e9)), 8) == (8, 3)


def test_wide_blocks_of_few_rows_are_not_taken_for_their_rate_alone() -> None:
    """Rates as measured on a Zen 3, where products by the model's block take 0.76 of the time (float32)."""
    rates = ((4, 6, 2, 90.9e9), (4, 5, 2, 97.4e9), (4, 3, 3, 97.9e9), (4, 2, 4, 98.3e9))
    assert register_block(measured(ZEN3, *rates), 4) == modelled_block(ZEN3) == (6, 2)


def test_a_clearly_faster_block_is_taken() -> None:
    machine = measured(WIDE, (8, 8, 3, 80e9), (8, 14, 2, 100e9), (8, 13, 2, 99e9), (4, 8, 3, 200e9))
    assert register_block(machine, 8) == (14, 2)
    blocks = blocks_of(machine, 8)
    assert (blocks.rows, blocks.vectors, blocks.columns) == (14, 2, 16)
    assert blocks.mc % 14 == 0
    assert register_block(machine, 4) == (8, 3)
