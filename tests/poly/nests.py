"""Loop nests run and printed, and sets enumerated, without isl's help where that is what is tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import trunc
from typing import Any

import islpy as isl

from polymat.poly.ast import Guard, Identifier, Instance, Integer, Loop, LoopExpr, Nest, Operation
from polymat.poly.domain import Domain
from polymat.poly.isltext import encode

Point = tuple[int, ...]


def points(domain: Domain, **params: int) -> list[Point]:
    """The points of a domain at fixed parameters, in lexicographic order."""
    found: list[Point] = []
    bare = fix(domain, params).set
    bare = bare.project_out(isl.dim_type.param, 0, bare.dim(isl.dim_type.param))
    count = bare.dim(isl.dim_type.set)
    bare.foreach_point(
        lambda point: found.append(
            tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(count))
        )
    )
    return sorted(found)


def run(nest: Sequence[Nest], params: Mapping[str, int]) -> list[tuple[int, Point]]:
    """The statement instances in the order in which the nest runs them."""
    return list(_run(nest, dict(params)))


def _run(nest: Sequence[Nest], names: dict[str, int]) -> Iterator[tuple[int, Point]]:
    for item in nest:
        match item:
            case Instance(tag, indices):
                yield tag, tuple(value(index, names) for index in indices)
            case Guard(condition, then, otherwise):
                yield from _run(then if value(condition, names) else otherwise, names)
            case Loop():
                inner = {**names, item.iterator: value(item.start, names)}
                while value(item.condition, inner):
                    yield from _run(item.body, inner)
                    step = value(item.step, inner)
                    inner = {**inner, item.iterator: inner[item.iterator] + step}
                    if step == 0:
                        break


def value(expr: LoopExpr, names: Mapping[str, int]) -> int:
    """An expression of a nest, with C's meaning."""
    match expr:
        case Integer(number):
            return number
        case Identifier(name):
            return names[name]
        case Operation("and", (left, right)):
            return int(bool(value(left, names)) and bool(value(right, names)))
        case Operation("or", (left, right)):
            return int(bool(value(left, names)) or bool(value(right, names)))
        case Operation("select", (condition, then, otherwise)):
            return value(then if value(condition, names) else otherwise, names)
        case Operation(op, operands):
            return int(_OPERATIONS[op](*(value(operand, names) for operand in operands)))


_OPERATIONS: dict[str, Any] = {
    "+": lambda *terms: sum(terms),
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "neg": lambda a: -a,
    "min": min,
    "max": max,
    "div": lambda a, b: trunc(a / b),
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a - b * trunc(a / b),
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
    "==": lambda a, b: a == b,
}


def text(nest: Sequence[Nest], indent: str = "") -> str:
    """A nest for golden files."""
    lines = []
    for item in nest:
        match item:
            case Instance(tag, indices):
                lines.append(f"{indent}S{tag}({', '.join(shown(index) for index in indices)})")
            case Guard(condition, then, otherwise):
                lines += [f"{indent}if {shown(condition)}:", text(then, indent + "  ")]
                lines += [f"{indent}else:", text(otherwise, indent + "  ")] if otherwise else []
            case Loop():
                head = (
                    f"{item.iterator} = {shown(item.start)}; {shown(item.condition)}; += {shown(item.step)}"
                )
                lines += [f"{indent}for {head}:  # {item.depth}", text(item.body, indent + "  ")]
    return "\n".join(lines)


def shown(expr: LoopExpr) -> str:
    """An expression of a nest."""
    match expr:
        case Integer(number):
            return str(number)
        case Identifier(name):
            return name
        case Operation("neg", (operand,)):
            return f"-{shown(operand)}"
        case Operation("min" | "max" | "floordiv" | "mod" | "select" as op, operands):
            return f"{op}({', '.join(map(shown, operands))})"
        case Operation(op, operands):
            return "(" + f" {op} ".join(map(shown, operands)) + ")"


def fix(domain: Domain, values: Mapping[str, int]) -> Domain:
    """Fix parameters to values."""
    result = domain.set
    for name, value in values.items():
        position = result.find_dim_by_name(isl.dim_type.param, encode(name))
        if position >= 0:
            result = result.fix_val(
                isl.dim_type.param, position, isl.Val.int_from_si(result.get_ctx(), value)
            )
    return Domain(domain.params, domain.dims, result)
