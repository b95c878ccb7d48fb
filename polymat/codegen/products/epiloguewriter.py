"""Epilogues: the C function that register blocks call with complete parts of a result, for its readers."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import (
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    Id,
    Literal,
    Stmt,
    Subscript,
    names_in,
)
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.contractionwriter import ContractionWriter
from polymat.codegen.products.endwriter import EndWriter
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.plan.epilogue import EpiloguePlan

AROUND = "_pm_around"  # what the function needs beside the part: arrays, and addresses of numbers
_PART = {"rows": ("_pm_i", "_pm_i_end"), "columns": ("_pm_j", "_pm_j_end")}
_SEGMENTS = {"rows": "_pm_row_segment", "columns": "_pm_column_segment"}


def epilogue_nest(
    writer: StageWriter, stage: Stage, plan: EpiloguePlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a contraction and its readers over run-time ranges of the last one's dimensions."""
    product = writer.pipeline.stage(plan.product)
    own = dict(zip(stage.dims, product.dims, strict=True))
    if plan.absorbed:
        writer = _in_array_of(writer, product, stage)
    readers = [writer.pipeline.stage(name) for name in plan.readers]
    contraction = ContractionWriter(
        writer, product, plan.kernel, [None if dim is None else own[dim] for dim in along]
    )
    last = (contraction, *contraction.further)[-1]
    if plan.in_registers:
        last.end_with(EndWriter(writer.bodies, product, readers[0], writer.pipeline.extents))
        return contraction.nest(kind)
    nests = [writer.ranged(reader, plan.readers[reader.name], reader.dims, "rest") for reader in readers]
    last.finish = Epilogue(last, tuple(readers), tuple(nests))
    return contraction.nest(kind)


def _in_array_of(writer: StageWriter, product: Stage, reader: Stage) -> StageWriter:
    """A writer for which the product is in the array of a reader."""
    return writer.with_storage({**writer.storage, product.name: writer.storage[reader.name]})


@dataclass(frozen=True, eq=False)
class Epilogue:
    """The readers of a contraction, with their nests over ranges of all their dimensions."""

    contraction: ContractionWriter
    stages: tuple[Stage, ...]
    nests: tuple[NestFunction, ...]

    @property
    def name(self) -> str:
        """C name of the function."""
        return f"_pm_finish_{self.contraction.stage.name}"

    def arguments(self) -> tuple[CExpr, CExpr]:
        """The function, and what it is handed beside the part."""
        return Id(self.name), Id(AROUND)

    def statements(self) -> tuple[Stmt, ...]:
        """The declarations, before the product, of all that the function of the readers is handed."""
        values = [
            Cast("void *", Id(name) if ctype.rstrip().endswith(("*", "restrict")) else CUnary("&", Id(name)))
            for name, ctype in self._around().items()
        ]
        return (Declare("void *const ", f"{AROUND}[{max(1, len(values))}]", Braces(tuple(values))),)

    @property
    def functions(self) -> tuple[CFunction, ...]:
        """The nests, and the function that calls them with their ranges of the part."""
        unpacked = []
        for position, (name, ctype) in enumerate(self._around().items()):
            value: CExpr = Subscript(Id(AROUND), Literal(str(position)))
            if ctype.rstrip().endswith(("*", "restrict")):
                pointer = ctype.replace("restrict", "").rstrip()
                unpacked.append(Declare(f"{pointer}const ", name, value))
            else:
                value = CUnary("*", Cast(f"{ctype} *", value))
                unpacked.append(Declare(ctype, name, value))
        parameters = (
            CParameter("void *const *", AROUND),
            CParameter("ptrdiff_t", _SEGMENTS["rows"]),
            *(CParameter("ptrdiff_t", name) for name in _PART["rows"]),
            CParameter("ptrdiff_t", _SEGMENTS["columns"]),
            *(CParameter("ptrdiff_t", name) for name in _PART["columns"]),
        )
        used = names_in((*unpacked, *self._calls()))
        silent = [Evaluate(Cast("void", Id(p.name))) for p in parameters if p.name not in used]
        comment = (
            f"{', '.join(stage.name for stage in self.stages)} at a part of {self.contraction.stage.name}"
        )
        body = (*silent, *unpacked, *self._calls())
        function = CFunction("void", self.name, parameters, body, comment, runs_others=True)
        return (*(function for nest in self.nests for function in nest.functions), function)

    def _calls(self) -> tuple[Stmt, ...]:
        limits = [limit for dim in self.contraction.stage.dims for limit in self._range(dim)]
        return tuple(Evaluate(CCall(nest.function.name, (*nest.arguments, *limits))) for nest in self.nests)

    def _around(self) -> dict[str, str]:
        """The variables of the contraction's nest that the calls name, with their types."""
        types = {
            parameter.name: parameter.ctype
            for nest in self.nests
            for parameter in nest.function.parameters[: len(nest.arguments)]
        }
        parts = {*_SEGMENTS.values(), *_PART["rows"], *_PART["columns"]}
        others = sorted(names_in(self._calls()) - set(types) - parts)
        return types | dict.fromkeys(others, "const ptrdiff_t")

    def _range(self, dim: str) -> tuple[CExpr, CExpr]:
        """The part's range of a dimension of the product."""
        found = self.contraction.found
        begin = self.contraction.range(dim)[0]
        for group, inner, more in (
            ("rows", found.rows, found.more_rows),
            ("columns", found.columns, found.more_columns),
        ):
            if dim == inner:
                first, last = (_sum(begin, Id(name)) for name in _PART[group])
                return first, last
            if dim in more:
                index = _sum(begin, self._of_segment(dim, more, Id(_SEGMENTS[group])))
                return index, _sum(index, Literal("1"))
        index = Id(self.contraction.writer.bodies.index_name(dim))
        return index, _sum(index, Literal("1"))

    def _of_segment(self, dim: str, dims: tuple[str, ...], segment: CExpr) -> CExpr:
        """How far from the first index of a dimension a segment lies; the last dimension runs fastest."""
        position = dims.index(dim)
        for inner in dims[position + 1 :]:
            segment = CBinary("/", segment, self.contraction.length(inner))
        return segment if position == 0 else CBinary("%", segment, self.contraction.length(dim))


def _sum(left: CExpr, right: CExpr) -> CExpr:
    return right if left == Literal("0") else CBinary("+", left, right)
