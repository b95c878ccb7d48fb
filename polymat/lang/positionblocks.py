"""Where the smallest or largest element of a vector is, found by blocks that are small beside it.

before:  Reduce(f(), A(k), Op.ArgMax)
after:   Reduce(m(b), A(b * 512 + k), Op.Max);  Reduce(e(), m(b), Op.Max)
         Reduce(w(), Select(m(b) == e(), b, largest), Op.Min)
         Reduce(f(), Select(A(w() * 512 + k) == e(), w() * 512 + k, largest), Op.Min)

The vector is read once, and of one block again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.lang.algebra import between
from polymat.lang.computed import index_form, substituted
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast, Select
from polymat.lang.expr import Const, Expr, Load, Variable, binary
from polymat.lang.function import CaseEntry
from polymat.lang.interval import Interval
from polymat.lang.makers import index_expression
from polymat.lang.mathfunctions import Clamp
from polymat.lang.reduction import Op, Reduce, ReduceEntry, Reduction
from polymat.lang.traverse import names_of, rebuild, walk
from polymat.lang.types import Int, Long, ScalarType

ELEMENTS = 512  # of a block: a few KiB at most, looked through twice


def hit(value: Expr, extreme: Expr, index: Expr, dtype: ScalarType) -> Expr:
    """The index where an element is the extreme one; elsewhere what no index is larger than."""
    found = Condition(value, "==", extreme)
    if value.dtype.kind == "f":  # where there is a NaN, the extreme is NaN, which nothing is equal to
        found = found | Condition(value, "!=", value)
    return Select(found, Cast(dtype, index), no_index(dtype))


def no_index(dtype: ScalarType) -> Expr:
    """The largest number of an integer type, which no smaller index is."""
    return Const(int(np.iinfo(dtype.dtype).max), dtype)


def blocks_of(stage: Reduction, entries: tuple[Any, ...], value: Expr) -> PositionBlocks | None:
    """The blocks of a reduction by Op.ArgMin or Op.ArgMax; None where all is looked at twice.

    That is of rows with an index each, of several variables, bounds from data and conditions, and of elements
    that are read at other places than the variable itself and its neighbours.
    """
    if stage.variables or len(entries) != 1 or isinstance(entries[0], CaseEntry):
        return None
    if len(stage.reduction_variables) != 1 or stage.reduction_intervals[0].data is not None:
        return None
    if not _is_read_plainly(value, stage.reduction_variables[0].name):
        return None
    last = stage.reduction_intervals[0].hi - stage.reduction_intervals[0].lo
    if last.is_constant and last.const < ELEMENTS:
        return None
    return PositionBlocks(stage, *_two_names(stage, value), last)


def _is_read_plainly(value: Expr, name: str) -> bool:
    """Whether an index with a variable in it is that variable, or a constant more or less."""
    forms = [form for node in walk(value) if isinstance(node, Load) for form in node.indices]
    return all(form - form.const == Affine.name(name) for form in forms if name in form.names())


def _two_names(stage: Reduction, value: Expr) -> tuple[Variable, Variable]:
    """Variables whose names nothing else has."""
    taken = {*names_of((value,)), *(variable.name for variable in stage.reduction_variables)}
    taken |= {size.name for each in stage.reduction_intervals for size in each.sizes}
    first = stage.reduction_variables[0].name
    block, within = f"{first}_block", f"{first}_within"
    while {block, within} & taken:
        block, within = f"{block}_", f"{within}_"
    return Variable(Int, block), Variable(Int, within)


@dataclass(frozen=True, slots=True)
class PositionBlocks:
    """The blocks of a reduction over all of its points.

    last: the number of the last point, counted from 0.
    """

    stage: Reduction
    block: Variable
    within: Variable
    last: Affine

    @property
    def _interval(self) -> Interval:
        return self.stage.reduction_intervals[0]

    def define(self, entry: ReduceEntry, value: Expr, number: Expr, extreme: Reduction, op: Op) -> Any:
        """Define the extreme, and find the definition of its index; number: that of a point."""
        stage, block = self.stage, self.block
        each = self._reduction(([block], [self._blocks]), self._domain(block), value.dtype, "blocks")
        there = Affine.name(block.name).scale(ELEMENTS) + Affine.name(self.within.name)
        here = self._moved(value, there + self._interval.lo)
        reach = Condition(self._expression(there), "<=", self._expression(self.last))
        each.defn = [CaseEntry(reach, Reduce(each(block), here, op), entry.at)]
        extreme.reduction_variables, extreme.reduction_intervals = (block,), (self._blocks,)
        extreme.defn = [Reduce(extreme(), each(block), op)]
        which = self._reduction(([], []), ([block], [self._blocks]), Long, "block")
        which.defn = [Reduce(which(), hit(each(block), extreme(), block, Long), Op.Min)]
        found = hit(self._at(value, which()), extreme(), self._at(number, which()), stage.dtype)
        short = Condition(self.within, "<=", self._expression(self.last))
        variables, intervals = self._domain()
        stage.reduction_variables, stage.reduction_intervals = tuple(variables), tuple(intervals)
        return CaseEntry(short, ReduceEntry(entry.target, found, Op.Min, entry.at), entry.at)

    @property
    def _blocks(self) -> Interval:
        return between(Affine(), self.last.floordiv(ELEMENTS), self._interval.sizes)

    def _domain(self, *outer: Variable) -> tuple[list[Variable], list[Interval]]:
        """The points of a block, with the blocks before them where the variable of these is given."""
        inside = between(Affine(), Affine(const=ELEMENTS - 1), ())
        return [*outer, self.within], [*(self._blocks for _ in outer), inside]

    def _reduction(self, domain: Any, reduced: Any, dtype: ScalarType, what: str) -> Reduction:
        return Reduction(domain, reduced, dtype, None, what=f"{what} of {self.stage.label}")

    def _expression(self, form: Affine) -> Expr:
        """A form of sizes and of the two variables as an expression."""
        leaves: dict[str, Expr] = {size.name: size for size in self._interval.sizes}
        return index_expression(form, leaves | {each.name: each for each in (self.block, self.within)})

    def _moved(self, value: Expr, form: Affine) -> Expr:
        """A value of the point that an affine form says."""
        return substituted(value, {self.stage.reduction_variables[0].name: form})

    def _at(self, value: Expr, which: Expr) -> Expr:
        """A value of a point of the block that was found: behind the last point, of that one again.

        Without any points no block was found, and there is nothing to look through.
        """
        name = self.stage.reduction_variables[0].name
        block = binary("min", which, self._expression(self.last.floordiv(ELEMENTS)))
        number = binary("+", binary("*", block, Const(ELEMENTS, Long)), self.within)
        low, high = map(self._expression, (self._interval.lo, self._interval.hi))
        place = Clamp(binary("+", number, low), low, high)

        def leaf(node: Expr) -> Expr:
            match node:
                case Load(source, indices, dtype, at, sizes):
                    forms = tuple(
                        form.substitute({name: index_form(place, position, at)})
                        for position, form in enumerate(indices)
                    )
                    return Load(source, forms, dtype, at, sizes)
                case Variable() if node.name == name:
                    return Cast(node.dtype, place)
                case _:
                    return node

        return rebuild(value, leaf)
