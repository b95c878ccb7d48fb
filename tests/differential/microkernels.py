"""Microkernels for random schemes: any block, with strides that are stated where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import polymat as pm
from polymat.lang.types import ScalarType
from polymat.product.scheme import GroupAtom, Scheme, SchemeLoop, Sequence2, unrolled
from polymat.product.schemetext import read_scheme

CALLED = 0.6  # of the schemes that may call one do
SOURCE = Path(__file__).with_name("microkernel.c")
RESULTS: tuple[tuple[int | None, int | None], ...] = ((None, None), (None, 1), (1, None))


def microkernel(
    name: str, dtype: ScalarType, rows: int, columns: int, depth: int = 1, **needs: Any
) -> pm.Microkernel:
    """A microkernel that computes a block in plain loops; needs: the strides that it asks for."""
    macros = {"NAME": name, "T": dtype.c, "ROWS": str(rows), "COLUMNS": str(columns), "WHOLE": str(depth)}
    text = SOURCE.read_text(encoding="utf-8")
    for macro, value in macros.items():
        text = text.replace(macro, value)
    return pm.Microkernel(name, text, dtype, rows, columns, depth, **needs)


def random_kernel(
    rng: Random,
    name: str,
    scheme: str,
    summed: Sequence[str],
    operands: Sequence[Sequence[str]],
    dtype: ScalarType,
) -> pm.Microkernel | None:
    """A microkernel for the blocks of a scheme; None where it cannot call one, and now and then elsewhere."""
    found = read_scheme(scheme)
    if not isinstance(found, Scheme) or any(isinstance(atom, Sequence2) for atom in found.atoms):
        return None
    atoms = [atom for atom in found.atoms if not isinstance(atom, GroupAtom)]
    outside = [atom for atom in atoms if not atom.in_block]
    last, block = outside[-1], {dim: size for dim, size in unrolled(atoms).items() if size > 1}
    around = isinstance(last, SchemeLoop) and last.kind == "R" and last.dim in summed
    if not around or not 1 <= len(block) <= 2 or len(atoms) == len(outside) or {*block} & {*summed}:
        return None
    having = [[number for number, dims in enumerate(operands) if dim in dims] for dim in block]
    if any(len(each) != 1 for each in having) or having[1:] == having[:1] or rng.random() > CALLED:
        return None
    sizes = [*block.values()]
    if len(sizes) == 1:
        sizes.insert(rng.randint(0, 1), 1)
    rows, columns = sizes
    depth, result = rng.choice((1, 1, 2, 3)), rng.choice(RESULTS)
    return microkernel(f"block_{name}", dtype, rows, columns, depth, result=result)
