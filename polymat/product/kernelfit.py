"""Microkernels of the user's beside the contraction and the scheme whose whole blocks they compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.product.contraction import Contraction
from polymat.product.modelled import Extents
from polymat.product.scheme import Atom, Pack, SchemeLoop, Sequence2, unrolled
from polymat.product.schemefit import dims_of, operands, packed_factor, strip_of
from polymat.product.schemetext import Misfit
from polymat.userkernel import Microkernel

MOST_APART = 1 << 15  # elements of a block on the stack: 256 KiB of doubles


@dataclass(frozen=True, slots=True, eq=False)
class UserKernels:
    """The microkernels that schemes of a program may call.

    inputs, outputs: how long the arrays of a call are along each dimension, which lie row by row.
    """

    kernels: Sequence[Microkernel] = ()
    inputs: Extents = field(default_factory=dict)
    outputs: Extents = field(default_factory=dict)

    @staticmethod
    def of(kernels: Sequence[Microkernel], pipeline: Pipeline) -> UserKernels:
        """Those of a pipeline."""
        inputs = {array.name: array.extents for array in pipeline.inputs}
        return UserKernels(kernels, inputs, {name: pipeline.extents[name] for name in pipeline.outputs})

    @property
    def in_tiles(self) -> UserKernels:
        """Those that schemes within tiles may call: tiles may keep their results elsewhere."""
        return replace(self, outputs={})


@dataclass(frozen=True, slots=True, eq=False)
class KernelUse:
    """A microkernel for the whole blocks of one contraction.

    row, column: the dimensions of its rows and columns; None where it has one.  depth: the summed one.
    left, right: the operands that have its rows and its columns.
    """

    kernel: Microkernel
    row: str | None
    column: str | None
    depth: str
    left: Factor
    right: Factor

    @property
    def sides(self) -> tuple[tuple[Factor, str | None, int | None], ...]:
        """Of each operand, by dimension, the stride that is needed."""
        (a_row, a_depth), (b_depth, b_column) = self.kernel.left, self.kernel.right
        left = ((self.left, self.row, a_row), (self.left, self.depth, a_depth))
        return (*left, (self.right, self.depth, b_depth), (self.right, self.column, b_column))


def fitted_kernel(
    name: str, user: UserKernels, atoms: Sequence[Atom], found: Contraction, stage: Stage
) -> KernelUse | Misfit:
    """How the microkernel of a name computes the blocks of some atoms, or why it does not."""
    kernel = next((each for each in user.kernels if each.name == name), None)
    if kernel is None:
        known = ", ".join(each.name for each in user.kernels)
        hint = f"those of Options.microkernels are {known}" if known else "Options(microkernels=) has them"
        return Misfit(f"Call({name}) names no microkernel", hint)
    dtype = stage.dtype.dtype
    if dtype != kernel.dtype:
        return Misfit(
            f"{name} is for {kernel.dtype}, and {stage.name} is {dtype}", "Microkernel.dtype says it"
        )
    block = _block(kernel, atoms, found)
    depth = _depth(atoms, found)
    if isinstance(block, Misfit):
        return block
    if depth is None:
        hint = "R(k) of a summed dimension stands right around U and V: its points are the depth of a call"
        return Misfit(f"no loop of a sum is right around the blocks of {name}", hint)
    row, column = block
    in_place = found.scale is None and all(
        dim is None or stride in (None, _distance(stage, dim, user.outputs))
        for dim, stride in zip(block, kernel.result, strict=True)
    )
    if kernel.points_apart > MOST_APART and not in_place:
        return Misfit(
            f"a block of {name} by itself takes {kernel.points_apart} elements of the stack",
            f"at most {MOST_APART}: result=(None, 1) takes rows at any distance",
        )
    sides = _operands(found, row, column)
    if isinstance(sides, Misfit):
        return sides
    use = KernelUse(kernel, row, column, depth, *sides)
    return _strides(use, atoms, found, user.inputs) or use


def _distance(stage: Stage, dim: str, outputs: Extents) -> int | None:
    """Elements between neighbours of the result along a dimension, where that is a number."""
    return _stride(tuple(map(Affine.name, stage.dims)), dim, outputs.get(stage.name))


def _block(
    kernel: Microkernel, atoms: Sequence[Atom], found: Contraction
) -> tuple[str | None, str | None] | Misfit:
    """The dimensions of its rows and columns, which unrolled atoms have in this order."""
    size = f"{kernel.rows} x {kernel.columns}"
    hint = f"U(i, {kernel.rows}), U(j, {kernel.columns}) are its block, without what is of one point"
    if any(isinstance(atom, Sequence2) for atom in atoms):
        return Misfit(f"{kernel.name} has blocks of {size}, and seq those of two sizes", hint)
    long = {dim: points for dim, points in unrolled(atoms).items() if points > 1}
    summed = next((dim for dim in long if dim in found.summed), None)
    if summed is not None:
        return Misfit(f"{kernel.name} adds up all of {summed}, and U or V some of it", f"R({summed}) is all")
    names = {"row": kernel.rows, "column": kernel.columns}
    wanted = {side: points for side, points in names.items() if points > 1}
    if [*long.values()] != [*wanted.values()]:
        own = " x ".join(map(str, long.values())) or "one point"
        return Misfit(f"{kernel.name} has blocks of {size}, and the scheme those of {own}", hint)
    dims = dict(zip(wanted, long, strict=True))
    return dims.get("row"), dims.get("column")


def _depth(atoms: Sequence[Atom], found: Contraction) -> str | None:
    """The summed dimension whose loop is right around a block."""
    outside = [atom for atom in atoms if not atom.in_block]
    last = outside[-1] if outside else None
    is_sum = isinstance(last, SchemeLoop) and last.kind == "R" and last.dim in found.summed
    return last.dim if is_sum and isinstance(last, SchemeLoop) else None


def _operands(found: Contraction, row: str | None, column: str | None) -> tuple[Factor, Factor] | Misfit:
    """The operand with the rows, and that with the columns."""
    one, other = operands(found)
    having = {dim: [each for each in (one, other) if dim in each.names()] for dim in (row, column) if dim}
    for dim, found_in in having.items():
        if len(found_in) > 1:
            return Misfit(
                f"both operands move along {dim}", "those of a microkernel move along one side each"
            )
    left = having[row][0] if row else None
    right = having[column][0] if column else None
    if left is not None and left is right:
        return Misfit(f"{left.source} moves along {row} and {column}", "each operand has one side of a block")
    if left is None:
        left = one if right is not one else other
    return left, other if left is one else one


def _strides(use: KernelUse, atoms: Sequence[Atom], found: Contraction, inputs: Extents) -> Misfit | None:
    """Whether operands are known to lie as the microkernel needs them."""
    for factor, dim, wanted in use.sides:
        if dim is None or wanted is None:
            continue
        known = known_stride(factor, dim, atoms, found, inputs)
        if known == wanted:
            continue
        lies = "is not known" if known is None else f"is {known}"
        return Misfit(
            f"{use.kernel.name} needs a stride of {wanted} along {dim} of {factor.source}, which {lies}",
            f"pack({factor.source}: ...) copies it; blocks of its last dimension lie together",
        )
    return None


def known_stride(
    factor: Factor,
    dim: str,
    atoms: Sequence[Atom],
    found: Contraction,
    inputs: Extents,
) -> int | None:
    """Elements between neighbours along a dimension in a block of these atoms, where that is a number.

    inputs: how long arrays are that lie row by row, by name.
    """
    if dim not in factor.names():
        return 0
    for position, atom in enumerate(atoms):
        if isinstance(atom, Pack) and packed_factor(atom, found) == factor:
            dims = atom.order or dims_of(factor, found)
            strip = strip_of(atoms[position + 1 :], dims[-1])
            if dim == dims[-1]:
                return 1
            return strip if strip > 1 and dim == dims[-2] else None
    return _stride(factor.indices, dim, inputs.get(factor.source))


def _stride(indices: Sequence[Affine], dim: str, extents: Sequence[Affine] | None) -> int | None:
    """Elements between neighbours along a dimension in an array row by row, where that is a number."""
    own = [(k, form.coefficient(dim)) for k, form in enumerate(indices) if dim in form.names()]
    if not all(form.is_linear_in((dim,)) for form in indices):
        return None
    if [k for k, _ in own] == [len(indices) - 1]:
        return own[0][1]
    if extents is None or not all(form.is_constant for form in extents[own[0][0] + 1 :]):
        return None
    return sum(slope * prod(form.const for form in extents[k + 1 :]) for k, slope in own)
