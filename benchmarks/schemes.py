"""Schemes of contractions that can be run: a problem, one way to carry it out, and random other ways.

All ways go through the C function behind compiled contractions: they differ in the register block, in which
dimensions are rows and depth, in the order of the rest, and in the blocks for the caches.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

import polymat as pm
from benchmarks.sections.contractions import CONTRACTIONS
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape
from polymat.graph.build import build
from polymat.graph.group import Group
from polymat.machine.model import Machine
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.turned import can_turn
from polymat.runtime.toolchain import compile_shared, find_compiler, flags_for
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.kernelplanner import plan_kernel
from polymat.tilesize.streamed import product_past_caches

ELEMENT = 8
UNIT = 8  # indices of a dimension that is scaled: a multiple of this, as all extents of TCCG are
HUGE = 1 << 21  # bytes of a huge page
SHORT = 24  # indices of a dimension that is not scaled

_RUN = """\
void run(const ptrdiff_t *n, const ptrdiff_t *rows, const ptrdiff_t *columns, const ptrdiff_t *depths,
        const double *a, const double *b, double *c, double *scratch)
{
    _pm_gemm_f64(n[0], n[1], n[2], n[3], rows, n[4], columns, n[5], depths, 1.0, a, n[6], n[7], b, n[8], n[9],
                 0.0, NULL, 0, c, n[10], n[11], n[12], n[13], n[14], (int)n[15],
                 _pm_half_of_f64(0, 0, 0, NULL, 0, 0), scratch, NULL, NULL, NULL);
}

double room(const ptrdiff_t *n, double rows, double columns)
{
    /* Blocks are drawn: any of them may be the largest. */
    const ptrdiff_t held = n[14] / n[11] + 1, wide = n[12] > n[13] ? n[12] : n[13];
    const ptrdiff_t largest = held > wide ? held : wide;
    return _pm_room_f64(n[0] * n[3] + rows, n[1] * n[4] + columns, n[2] * n[5], n[12], largest, 0);
}
"""
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Candidate:
    """One way to carry out a contraction: its dimensions by group, register and cache blocks.

    streamed: bytes of the result above which it is written past the caches (0: never).
    """

    found: Contraction
    blocks: Blocks
    streamed: int = 0

    def __str__(self) -> str:
        found, blocks = self.found, self.blocks
        groups = (
            (found.more_rows, found.rows),
            (found.more_columns, found.columns),
            (found.sums, found.depth),
        )
        dims = " x ".join("".join((*more, inner)) for more, inner in groups)
        sizes = f"kc {blocks.kc}, mc {blocks.mc}, nc {blocks.nc}"
        return f"{dims}, {blocks.rows} x {blocks.columns}, {sizes}, unpacked to {blocks.small}"


@dataclass(frozen=True)
class Problem:
    """A contraction at some extents, with its arrays."""

    name: str
    extents: Mapping[str, int]
    arrays: Mapping[str, Floats]

    @property
    def letters(self) -> dict[str, str]:
        """Indices of the operands and of the result C."""
        return dict(zip("CAB", self.name.split("-"), strict=True))

    @property
    def flops(self) -> float:
        """Operations of the sum of products."""
        return 2.0 * prod(self.extents.values())

    def step(self, array: str, dim: str) -> int:
        """Elements between neighbours along a dimension."""
        letters = self.letters[array]
        if dim not in letters:
            return 0
        return prod(self.extents[d] for d in letters[letters.index(dim) + 1 :])


def extents_of(name: str, flops: float) -> dict[str, int]:
    """Extents of a contraction of TCCG of about so many operations: all but short ones scaled by one factor.

    Dimensions that an array is contiguous along are rounded up and the others down, to multiples of UNIT that
    no higher power of two divides than the whole extent: arrays then lie in the sets of the caches and fill
    register blocks as the whole ones do.
    """
    whole = CONTRACTIONS[name]
    long = sum(size > SHORT for size in whole.values())
    factor = min(1.0, (flops / (2.0 * prod(whole.values()))) ** (1.0 / max(1, long)))
    ends = {letters[-1] for letters in name.split("-")}
    return {dim: _scaled(size, size * factor, up=dim in ends) for dim, size in whole.items()}


def problem(name: str, extents: Mapping[str, int]) -> Problem:
    """A contraction at some extents, with operands of random numbers."""
    rng = np.random.default_rng(1)
    _, left, right = name.split("-")
    arrays = {x: rng.standard_normal([extents[d] for d in of]) for x, of in (("A", left), ("B", right))}
    return Problem(name, extents, arrays)


def _scaled(size: int, wanted: float, *, up: bool) -> int:
    """The extent next to the wanted one, above or below it."""
    if size <= SHORT:
        return size
    allowed = [each for each in range(UNIT, size + 1, UNIT) if each & -each <= size & -size] or [size]
    if up:
        return next((each for each in allowed if each >= wanted), size)
    return next((each for each in reversed(allowed) if each <= wanted), allowed[0])


def chosen(task: Problem, machine: Machine) -> tuple[Candidate, float]:
    """What the model chooses, and the seconds that it predicts."""
    sizes = {dim: pm.Parameter(pm.Int, f"n{dim}") for dim in task.extents}
    a, b = (pm.Image(pm.Double, x, [sizes[d] for d in task.letters[x]]) for x in "AB")
    pipeline = build([pm.einsum(task.name, a, b)], inputs=[a, b])
    (stage,) = pipeline.stages
    estimates = {f"n{dim}": size for dim, size in task.extents.items()}
    plan = plan_kernel(Group((stage.name,)), stage, pipeline.context, machine, estimates)
    if plan is None:
        raise SystemExit(f"{task.name} is no contraction for register blocks")
    plan = product_past_caches(pipeline, stage, plan, machine, estimates)
    cost = plan_cost(pipeline, plan, machine, estimates, 1, Home.of(pipeline, machine, estimates))
    return Candidate(plan.contraction, plan.blocks, plan.streamed), cost.seconds


def shapes(machine: Machine) -> list[tuple[int, int]]:
    """Register blocks, rows by vectors, that use most of the registers and fit them."""
    registers = machine.vector_registers
    return [
        (rows, vectors)
        for vectors in range(1, 5)
        for rows in (2, 4, 6, 8, 12, 14, 24)
        if registers / 2 <= rows * vectors + vectors + 1 <= registers
    ]


def at_random(rng: np.random.Generator, model: Candidate, machine: Machine) -> Candidate:
    """A valid scheme: dimensions keep their group, everything else about loops and blocks is drawn."""
    found = model.found

    def mixed(*dims: str) -> tuple[str, ...]:
        return tuple(rng.permutation(sorted(dims)).tolist()) if dims else ()

    rows, depth = mixed(found.rows, *found.more_rows), mixed(found.depth, *found.sums)
    grouped = replace(
        found,
        rows=rows[-1],
        more_rows=rows[:-1],
        more_columns=mixed(*found.more_columns),
        depth=depth[-1],
        sums=depth[:-1],
    )
    allowed = shapes(machine)
    height, vectors = allowed[int(rng.integers(len(allowed)))]
    lanes = machine.lanes(ELEMENT)
    kc = 32 * int(2 ** rng.uniform(0, 5))
    mc = max(1, int(2 ** rng.uniform(4, 11)) // height) * height
    nc = max(1, int(2 ** rng.uniform(5, 13)) // (vectors * lanes)) * vectors * lanes
    small = int(rng.choice([1 << 10, 1 << 14, machine.l2_bytes // ELEMENT]))
    blocks = Blocks(machine.vector_bits // 8, height, vectors, lanes, kc, mc, nc, small)
    return Candidate(grouped, blocks, model.streamed)


def compiled(shape: Shape, directory: Path) -> Path:
    """The library of the product around a family of register blocks, compiled where it is not there yet."""
    text = prelude(frozenset({shape})) + _RUN
    path = directory / f"{shape}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if not path.exists():
        compiler = find_compiler()
        compile_shared(text, path, compiler, flags_for(compiler))
    return path


@cache
def _workspace(bits: int) -> Floats:
    """At least 2 ** bits elements from a huge page on, as in compiled pipelines; all calls use the same."""
    memory = np.zeros((1 << bits) + HUGE // ELEMENT)
    return memory[-(memory.ctypes.data // ELEMENT) % (HUGE // ELEMENT) :]


@cache
def _functions(path: Path) -> tuple[Callable[..., None], Callable[..., float]]:
    """The product, and the bytes of scratch that it needs."""
    library = ctypes.CDLL(str(path))
    library.room.restype = ctypes.c_double
    return library.run, library.room


def segments(
    task: Problem, inner: str, dims: Sequence[str], arrays: Sequence[str]
) -> tuple[int, int, Integers]:
    """Length and number of segments and their offsets; dimensions that continue the inner one are joined."""
    length = task.extents[inner]
    rest: list[str] = []
    for dim in reversed(dims):
        steps = ((task.step(x, dim), task.step(x, inner)) for x in arrays)
        if all(outer == length * unit for outer, unit in steps):
            length *= task.extents[dim]
        else:
            rest.insert(0, dim)
    table = np.zeros((1, len(arrays)), dtype=np.intp)
    for dim in rest:
        steps_of = np.array([task.step(x, dim) for x in arrays], dtype=np.intp)
        along = np.arange(task.extents[dim], dtype=np.intp)[:, None] * steps_of
        table = (table[:, None, :] + along[None, :, :]).reshape(-1, len(arrays))
    return length, len(table), np.ascontiguousarray(table)


def call(task: Problem, candidate: Candidate, result: Floats, directory: Path) -> Callable[[], None]:
    """A call of the scheme that writes the result; directory: of the compiled libraries."""
    found, blocks = candidate.found, candidate.blocks
    left, right = found.left.source, found.right.source
    m, row_count, rows = segments(task, found.rows, found.more_rows, (left, "C", "C"))
    n, column_count, columns = segments(task, found.columns, found.more_columns, (right, "C", "C"))
    k, depth_count, depths = segments(task, found.depth, found.sums, (left, right))
    steps = ((left, found.rows), (left, found.depth), (right, found.depth), (right, found.columns))
    numbers = [m, n, k, row_count, column_count, depth_count]
    numbers += [task.step(x, dim) for x, dim in (*steps, ("C", found.rows))]
    numbers += [blocks.kc, blocks.mc, blocks.nc, blocks.small]
    numbers.append(int(0 < candidate.streamed < result.nbytes))
    turns = blocks.turned_depth if can_turn(found, blocks) else 0
    shape = Shape("f64", blocks.vector_bytes, blocks.rows, blocks.vectors, turns=turns)
    run, room = _functions(compiled(shape, directory))
    known = np.asarray(numbers, dtype=np.intp)
    rounding = (ctypes.c_double(blocks.rows * row_count), ctypes.c_double(blocks.columns * column_count))
    size = int(room(ctypes.c_void_p(known.ctypes.data), *rounding)) // ELEMENT
    scratch = _workspace(size.bit_length())
    arrays = (
        known,
        rows,
        columns,
        depths,
        task.arrays[left],
        task.arrays[right],
        result,
        scratch,
    )
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]

    def once(keep: tuple[npt.NDArray[np.generic], ...] = arrays) -> None:
        run(*pointers)

    return once
