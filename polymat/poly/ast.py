"""Loop nests from schedules: isl's AST, as a small tree of our own with decoded names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from enum import Enum
from functools import lru_cache

import islpy as isl

from polymat.dataclass import dataclass
from polymat.poly.domain import Domain
from polymat.poly.isltext import decode, encode
from polymat.poly.isltree import built, built_in_turns
from polymat.poly.readonce import map_of


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Identifier:
    """A parameter or loop iterator."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`op` of its operands: + - * min max floordiv div mod neg <= < >= > == and or select."""

    op: str
    operands: tuple[LoopExpr, ...]


LoopExpr = Integer | Identifier | Operation


@dataclass(frozen=True, slots=True)
class Loop:
    """for (iterator = start; condition; iterator += step) body; `depth` is the schedule dimension."""

    iterator: str
    depth: int
    start: LoopExpr
    condition: LoopExpr
    step: LoopExpr
    body: tuple[Nest, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """if (condition) then else otherwise."""

    condition: LoopExpr
    then: tuple[Nest, ...]
    otherwise: tuple[Nest, ...] = ()


@dataclass(frozen=True, slots=True)
class Instance:
    """Run statement `tag` at the point given by an expression per dimension."""

    tag: int
    indices: tuple[LoopExpr, ...]


Nest = Loop | Guard | Instance


@dataclass(frozen=True, eq=False)
class Scheduled:
    """A statement: its domain and, per schedule dimension, an isl affine text over the domain's dims."""

    tag: int
    domain: Domain
    schedule: tuple[str, ...]


def tagged(domain: Domain, tag: int) -> isl.Set:
    """The set with its statement tag as tuple name."""
    return domain.set.set_tuple_name(f"S{tag}")


def schedule_map(statement: Scheduled) -> isl.Map:
    """The statement's schedule, restricted to its domain."""
    dims = ", ".join(encode(d) for d in statement.domain.dims)
    params = ", ".join(encode(p) for p in statement.domain.params)
    text = f"[{params}] -> {{ S{statement.tag}[{dims}] -> [{', '.join(statement.schedule)}] }}"
    return map_of(text).intersect_domain(tagged(statement.domain, statement.tag))


def generate(
    statements: Sequence[Scheduled], context: Domain, iterators: Sequence[str], *, separate: bool = False
) -> tuple[Nest, ...]:
    """The loop nest that runs the statements in the order of their schedules."""
    levels = _telling(statements)
    union = isl.UnionMap.from_map(schedule_map(_at_levels(statements[0], levels)))
    for statement in statements[1:]:
        union = union.union(isl.UnionMap.from_map(schedule_map(_at_levels(statement, levels))))
    found = from_union_map(union, context, [iterators[k] for k in levels], separate=separate)
    return found if len(levels) == len(iterators) else tuple(_at_depths(nest, levels) for nest in found)


def _telling(statements: Sequence[Scheduled]) -> list[int]:
    """The schedule dimensions without those that are one number for all statements, unless all are.

    Such a dimension makes no loop, and isl takes a quarter to half of its time for it.
    """
    dims = range(len(statements[0].schedule))
    texts = [{statement.schedule[k] for statement in statements} for k in dims]
    return [k for k in dims if len(texts[k]) > 1 or not min(texts[k]).lstrip("-").isdigit()] or [*dims]


def _at_levels(statement: Scheduled, levels: Sequence[int]) -> Scheduled:
    return replace(statement, schedule=tuple(statement.schedule[k] for k in levels))


def _at_depths(nest: Nest, levels: Sequence[int]) -> Nest:
    """The nest with the depths of the whole schedule."""
    match nest:
        case Loop():
            body = tuple(_at_depths(inner, levels) for inner in nest.body)
            return replace(nest, depth=levels[nest.depth], body=body)
        case Guard():
            then = tuple(_at_depths(inner, levels) for inner in nest.then)
            otherwise = tuple(_at_depths(inner, levels) for inner in nest.otherwise)
            return replace(nest, then=then, otherwise=otherwise)
        case Instance():
            return nest


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of isl, told by its texts; turns: None for no loop that is written out."""

    texts: tuple[str, str]
    iterators: tuple[str, ...]
    separate: bool
    turns: int | None
    schedule: isl.UnionMap = field(compare=False)
    params: isl.Set = field(compare=False)


def from_union_map(
    schedule: isl.UnionMap,
    context: Domain,
    iterators: Sequence[str],
    *,
    separate: bool = False,
    turns: int | None = None,
) -> tuple[Nest, ...]:
    """The loop nest of a union map from statement instances to a common schedule space.

    separate: parts of loops in which other statements run are loops of their own.  turns: a loop that is
    written out where all of its iterations run the same statement.  Elsewhere, in parts of the loop around it
    that are apart, it stays a loop.
    """
    params = context.set.params()
    texts = str(schedule), str(params)
    return _nests(_Asked(texts, tuple(iterators), separate, turns, schedule, params))


# Loops of the same texts are the same, in whichever pipeline: compilations that follow each other, for other
# options or sizes say, share most of them, and a loop takes isl a hundred times as long as its text.
@lru_cache(maxsize=1024)
def _nests(asked: _Asked) -> tuple[Nest, ...]:
    schedule, iterators, turns = asked.schedule, asked.iterators, asked.turns
    build = isl.AstBuild.from_context(asked.params)
    ids = isl.IdList.alloc(schedule.get_ctx(), len(iterators))
    for name in iterators:
        ids = ids.add(isl.Id(encode(name)))
    build = build.set_iterators(ids)
    dims = "[" + ", ".join(f"i{k}" for k in range(len(iterators))) + "]"
    if turns is not None:
        node = built_in_turns(build, schedule, dims, turns)
    else:
        asked_for = isl.UnionMap(f"{{ {dims} -> separate[x] }}" if asked.separate else "{ }")
        node = built(build.set_options(asked_for), schedule)
    return _block(node, {name: depth for depth, name in enumerate(iterators)})


def _names(enumeration: type[Enum]) -> dict[object, str]:
    """An isl enumeration's values by name; Python's keywords have an underscore there."""
    return {value: name.rstrip("_") for name, value in enumeration.__members__.items()}


_NODE_KINDS = _names(isl.ast_node_type)
_EXPR_KINDS = _names(isl.ast_expr_type)
_OP_KINDS = _names(isl.ast_expr_op_type)


def _block(node: isl.AstNode, depths: dict[str, int]) -> tuple[Nest, ...]:
    kind = _NODE_KINDS[node.get_type()]
    if kind == "block":
        children = node.block_get_children()
        return tuple(n for k in range(children.n_ast_node()) for n in _block(children.get_at(k), depths))
    if kind == "for":
        return _loop(node, depths)
    if kind == "if":
        otherwise = _block(node.if_get_else_node(), depths) if node.if_has_else_node() else ()
        return (Guard(loop_expr(node.if_get_cond()), _block(node.if_get_then_node(), depths), otherwise),)
    call = node.user_get_expr()
    tag = int(call.get_op_arg(0).get_id().get_name()[1:])
    return (Instance(tag, tuple(loop_expr(call.get_op_arg(k)) for k in range(1, call.get_op_n_arg()))),)


def _loop(node: isl.AstNode, depths: dict[str, int]) -> tuple[Nest, ...]:
    name = decode(node.for_get_iterator().get_id().get_name())
    start = loop_expr(node.for_get_init())
    body = _block(node.for_get_body(), depths)
    if node.for_is_degenerate():
        return (
            Loop(name, depths[name], start, Operation("==", (Identifier(name), start)), Integer(0), body),
        )
    return (
        Loop(name, depths[name], start, loop_expr(node.for_get_cond()), loop_expr(node.for_get_inc()), body),
    )


_OPS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "min": "min",
    "max": "max",
    "minus": "neg",
    "div": "div",
    "fdiv_q": "floordiv",
    "pdiv_q": "div",
    "pdiv_r": "mod",
    "zdiv_r": "mod",
    "le": "<=",
    "lt": "<",
    "ge": ">=",
    "gt": ">",
    "eq": "==",
    "and": "and",
    "and_then": "and",
    "or": "or",
    "or_else": "or",
    "select": "select",
    "cond": "select",
}


def loop_expr(expr: isl.AstExpr) -> LoopExpr:
    """Our tree for an isl AST expression."""
    kind = _EXPR_KINDS[expr.get_type()]
    if kind == "int":
        return Integer(int(expr.get_val().to_python()))
    if kind == "id":
        return Identifier(decode(expr.get_id().get_name()))
    operands = tuple(loop_expr(expr.get_op_arg(k)) for k in range(expr.get_op_n_arg()))
    return Operation(_OPS[_OP_KINDS[expr.get_op_type()]], operands)
