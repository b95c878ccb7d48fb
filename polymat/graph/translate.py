"""Copy the user's functions into frozen stages, with exact domains: the step of `build` for each of them."""

from __future__ import annotations

from functools import reduce
from typing import Any

from polymat.dataclass import dataclass
from polymat.errors import LangError, Location, NameClashError, NotAffineError, UndefinedError
from polymat.graph.stage import Accumulation, Bounds, InputArray, Part, Ref, Stage, constants
from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.expr import Const, Expr, Load, Parameter, Variable
from polymat.lang.expressiontext import condition_text
from polymat.lang.function import CaseEntry, Function, Input
from polymat.lang.indices import as_affine
from polymat.lang.interval import Interval
from polymat.lang.neutral import neutral
from polymat.lang.reduction import ReduceEntry, Reduction
from polymat.lang.traverse import condition_operands, rebuild, rebuild_condition, rebuild_indices, walk
from polymat.poly.domain import Domain


@dataclass(frozen=True)
class Translation:
    """The context of a translation: names by identity, the sizes, and sizes fixed to numbers."""

    names: dict[int, str]
    sizes: tuple[str, ...]
    fixed: dict[str, int]

    def input_array(self, array: Input) -> InputArray:
        """An input with its extents over the remaining sizes."""
        limits = array.values[0] if array.values is not None else None
        values = None if limits is None else (self._form(limits.lows[0]), self._form(limits.highs[0]))
        return InputArray(
            self.names[id(array)],
            array.dtype,
            self._forms(array.dims),
            array.at,
            values=values,
            sorted=array.sorted,
        )

    def constraint(self, condition: Condition, needed_by: str = "") -> list[tuple[Affine, str]]:
        """A constraint on sizes as forms >= 0, each with its text: N > 4, or N >= 11 for concatenate(x, y).

        needed_by: what it is a requirement of, where no user wrote it.
        """
        if condition.combines or condition.op not in ("<", "<=", ">", ">=", "=="):
            raise LangError(
                f"a constraint is one comparison of sizes, got {condition_text(condition)}", at=condition.at
            )
        left, right = (as_affine(side, condition.at) for side in (condition.left, condition.right))
        for name in (*left.names(), *right.names()):
            if name not in self.sizes and name not in self.fixed:
                raise UndefinedError(
                    f"a constraint is on sizes, and {name} is none: {condition_text(condition)}",
                    at=condition.at,
                )
        form = right - left if condition.op in ("<", "<=") else left - right
        forms = [form, -form] if condition.op == "==" else [form - (condition.op in ("<", ">"))]
        if needed_by:
            return [(self._form(one), f"{_at_least(one)} for {needed_by}") for one in forms]
        return [(self._form(one), condition_text(condition)) for one in forms]

    def stage(self, function: Function) -> Stage:
        """A function as a stage."""
        dims = tuple(v.name for v in function.variables)
        self._check_variables(dims, function.at)
        bounds = self._bounds(function.intervals)
        domain = Domain.box(self.sizes, dims, bounds)
        if isinstance(function, Reduction):
            start = function.init if function.init is not None else neutral(function.op, function.dtype)
            parts = [Part(domain, None, self._expr(start, dims, function.at), function.at)]
            accumulations = tuple(self._accumulation(function, entry) for entry in function.defn)
        else:
            parts = [self._part(entry, domain, dims, function.defined_at) for entry in function.defn]
            accumulations = ()
        if function.default is not None:
            value = self._expr(function.default, dims, function.at)
            rest = reduce(Domain.subtract, (part.domain for part in parts), domain)
            parts.insert(0, Part(rest, None, value, function.at, fills=True))
        return Stage(
            name=self.names[id(function)],
            dtype=function.dtype,
            dims=dims,
            bounds=bounds,
            domain=domain,
            parts=tuple(parts),
            op=function.op if isinstance(function, Reduction) else None,
            accumulations=accumulations,
            at=function.at,
        )

    def _part(self, entry: Any, domain: Domain, dims: tuple[str, ...], at: Location | None) -> Part:
        if isinstance(entry, CaseEntry):
            condition = self._condition(entry.condition, dims, entry.at)
            where = _where(domain, condition, entry.at)
            return Part(where, condition, self._expr(entry.value, dims, entry.at), entry.at)
        return Part(domain, None, self._expr(entry, dims, at), at)

    def _accumulation(self, function: Reduction, entry: Any) -> Accumulation:
        dims = tuple(v.name for v in function.reduction_variables)
        self._check_variables(dims, function.at)
        bounds = self._bounds(function.reduction_intervals)
        domain, condition = Domain.box(self.sizes, dims, bounds), None
        if isinstance(entry, CaseEntry):
            condition = self._condition(entry.condition, dims, entry.at)
            domain = _where(domain, condition, entry.at)
        reduced: ReduceEntry = entry.value if isinstance(entry, CaseEntry) else entry
        forms = self._forms(reduced.target.indices)
        self._check_names(forms, dims, reduced.at)
        target = rebuild_indices(forms, lambda value: self._expr(value, dims, reduced.at))
        expr = self._expr(reduced.value, dims, reduced.at)
        return Accumulation(dims, bounds, domain, condition, target, expr, reduced.at)

    def _expr(self, expr: Expr, dims: tuple[str, ...], at: Location | None) -> Expr:
        def leaf(node: Expr) -> Expr:
            match node:
                case Load(source, indices):
                    forms = self._forms(indices)
                    self._check_names(forms, dims, node.at)
                    ref = Ref(self.names[id(source)], source.dtype, isinstance(source, Input))
                    return Load(ref, forms, node.dtype, node.at)
                case Parameter() if node.name in self.fixed:
                    return Const(self.fixed[node.name], node.dtype)
                case Variable() if node.name not in dims:
                    raise _unknown(node.name, dims, at)
                case _:
                    return node

        return rebuild(expr, leaf)

    def _condition(self, condition: Condition, dims: tuple[str, ...], at: Location | None) -> Condition:
        for operand in condition_operands(condition):
            for node in walk(operand):
                if isinstance(node, Variable) and node.name not in dims:
                    raise _unknown(node.name, dims, at)
        fixed = self.fixed

        def leaf(node: Expr) -> Expr:
            if isinstance(node, Parameter) and node.name in fixed:
                return Const(fixed[node.name], node.dtype)
            return node

        return rebuild_condition(condition, leaf)

    def _bounds(self, intervals: tuple[Interval, ...]) -> Bounds:
        return tuple((self._form(i.lo), self._form(i.hi)) for i in intervals)

    def _form(self, form: Affine) -> Affine:
        return form.substitute(constants(self.fixed)) if self.fixed else form

    def _forms(self, forms: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple(self._form(form) for form in forms)

    def _check_names(self, forms: tuple[Affine, ...], dims: tuple[str, ...], at: Location | None) -> None:
        for form in forms:
            for name in form.names():
                if name not in dims and name not in self.sizes:
                    raise _unknown(name, dims, at)

    def _check_variables(self, dims: tuple[str, ...], at: Location | None) -> None:
        for dim in dims:
            if dim in self.sizes or dim in self.fixed:
                raise NameClashError(f"{dim} is both a size and a variable", at=at)


def _where(domain: Domain, condition: Condition, at: Location | None) -> Domain:
    try:
        return domain.where(condition, at)
    except NotAffineError as error:
        raise NotAffineError(
            error.message,
            at=at,
            hint="the condition of a Case is affine in variables and sizes; use Select for values",
        ) from None


def _unknown(name: str, dims: tuple[str, ...], at: Location | None) -> UndefinedError:
    known = ", ".join(dims) or "none"
    return UndefinedError(f"{name} is not a variable of this definition (its variables: {known})", at=at)


def _at_least(form: Affine) -> str:
    """That a form is at least 0, its constant on the other side: N >= 1."""
    return f"{form - form.const} >= {-form.const}"
