"""The signature of a pipeline: how sizes follow from shapes, which arrays may coincide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.abi import PITCH, Array, Row, Scalar, Signature, Size
from polymat.codegen.memory.storage import Buffer
from polymat.errors import LangError, caller_location
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray
from polymat.lang.affine import Affine, Atom, FloorDiv


def make_signature(
    pipeline: Pipeline, name: str, storage: dict[str, Buffer], inplace: tuple[tuple[int, int], ...]
) -> Signature:
    """The signature of a compiled pipeline: what it accepts and returns."""
    given = [replace(a, extents=_users(pipeline, a)) for a in pipeline.inputs]
    pitches = [name for array in pipeline.inputs for name in array.pitches if name]
    sizes = bind_sizes([s.name for s in pipeline.sizes if s.name not in pitches], given)
    sizes = (*sizes, *(Size(name, PITCH) for name in pitches))
    _check_order(pipeline, sizes)
    rows = _FormRows([size.name for size in sizes])
    inputs = tuple(rows.input(array) for array in given)
    outputs = tuple(
        Array(
            output,
            storage[output].dtype.dtype,
            tuple(rows.row(e) for e in pipeline.as_called(output, storage[output].extents)),
            zero_fill=not storage[output].fully_written,
            written_from=tuple(
                rows.row(first)
                for first in pipeline.as_called(output, storage[output].written_from, fill=False)
            ),
        )
        for output in pipeline.outputs
    )
    constraints = tuple((rows.row(form), text) for form, text in pipeline.constraints)
    return Signature(
        name=name,
        inputs=inputs,
        outputs=outputs,
        sizes=sizes,
        derived=tuple(rows.derived),
        scalars=tuple(Scalar(s.name, s.dtype.dtype) for s in pipeline.scalars),
        order=pipeline.order,
        inplace=tuple((i, o) for i, o in inplace if not inputs[i].pitches),
        constraints=constraints,
    )


def _users(pipeline: Pipeline, array: InputArray) -> tuple[Affine, ...]:
    """The extents of an input as the user passes it."""
    if array.pitches:
        return array.shape
    extents = pipeline.as_called(array.name, array.extents)
    return extents[::-1] if array.turned else extents


def _check_order(pipeline: Pipeline, sizes: Sequence[Size]) -> None:
    """Refuse a positional argument for what a shape shows."""
    for size in sizes:
        if size.array >= 0 and size.name in pipeline.order:
            array = pipeline.inputs[size.array].name
            raise LangError(
                f"inputs= lists {size.name}, which dimension {size.dim} of {array} sets",
                at=caller_location(),
                hint="sizes that a shape shows are never passed",
            )


def bind_sizes(names: Sequence[str], inputs: Sequence[InputArray]) -> tuple[Size, ...]:
    """Sizes in an order in which each follows from a shape and the sizes before it; the rest by name."""
    bound: dict[str, Size] = {}
    progress = True
    while progress:
        progress = False
        for position, array in enumerate(inputs):
            for dim, extent in enumerate(array.extents):
                free = _only_unknown(extent, bound)
                if free is not None:
                    bound[free] = Size(free, position, dim)
                    progress = True
    missing = [Size(name) for name in names if name not in bound]
    return (*bound.values(), *missing)


def _only_unknown(extent: Affine, bound: dict[str, Size]) -> str | None:
    """The one size of an extent that is not bound yet, if it stands outside floor divisions."""
    unknown = {name for name in extent.names() if name not in bound}
    if len(unknown) != 1:
        return None
    name = unknown.pop()
    inside = any(isinstance(atom, FloorDiv) and name in atom.numerator.names() for atom, _ in extent.terms)
    return None if inside else name


class _FormRows:
    """Affine forms as rows over numbered symbols; floor divisions become derived symbols."""

    def __init__(self, sizes: Sequence[str]) -> None:
        self.symbols = {name: k for k, name in enumerate(sizes)}
        self.count = len(sizes)
        self.derived: list[Row] = []
        self.known: dict[FloorDiv, int] = {}

    def input(self, array: InputArray) -> Array:
        return Array(
            array.name,
            array.dtype.dtype,
            tuple(self.row(extent) for extent in array.extents),
            by_columns=array.turned,
            pitches=tuple(self.symbols.get(name, -1) for name in array.pitches),
        )

    def row(self, form: Affine) -> Row:
        terms = tuple((self._symbol(atom), coefficient) for atom, coefficient in form.terms)
        return Row(form.const, terms)

    def _symbol(self, atom: Atom) -> int:
        if not isinstance(atom, FloorDiv):
            return self.symbols[str(atom)]
        if atom not in self.known:
            inner = self.row(atom.numerator)
            self.derived.append(Row(inner.const, inner.terms, atom.divisor))
            self.known[atom] = self.count + len(self.derived) - 1
        return self.known[atom]
