"""Values that an expression uses several times, computed once."""

from __future__ import annotations

from polymat.codegen.c.cexpr import ExpressionWriter
from polymat.codegen.c.ctree import CExpr, Declare, Id, Stmt
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.sharing import computed_once, fixed_along, loaded_ahead


def shared_values(
    writer: ExpressionWriter, expr: Expr, first: int = 0, *, ahead: bool = False
) -> tuple[Stmt, ...]:
    """Declare a local for every operation that is computed once, and for elements that are loaded ahead.

    The writer then knows the locals; `first` is the number of the first one.

    before:  y[i] = c[i] < 0 ? a[i] : b[i]
    after:   const float t0 = a[i];  const float t1 = b[i];  y[i] = c[i] < 0 ? t0 : t1
    """
    declared: list[Stmt] = []
    names: dict[tuple[str, tuple[Affine, ...]], CExpr] = {}
    for load in loaded_ahead(expr) if ahead else ():
        element = load.source.name, load.indices
        if element not in names:
            names[element] = writer.ready.get(id(load)) or _declare(declared, writer, load, first)
        writer.ready[id(load)] = names[element]
    for node in computed_once(expr):
        if id(node) not in writer.ready:
            writer.ready[id(node)] = _declare(declared, writer, node, first)
    return tuple(declared)


def values_beside(
    writer: ExpressionWriter, expr: Expr, dim: str, inner: str, first: int = 0
) -> tuple[Stmt, ...]:
    """Declare a local for what points that differ along a dimension alone have in common.

    The writer then knows the locals; `first` is the number of the first one.

    before:  y[0][i] = x[0][i] * a[i];  y[1][i] = x[1][i] * a[i]
    after:   const float t0 = a[i];  y[0][i] = x[0][i] * t0;  y[1][i] = x[1][i] * t0
    """
    declared: list[Stmt] = []
    known: dict[CExpr, Id] = {}
    for node in fixed_along(expr, dim, inner):
        value = writer.value(node, node.dtype)
        if value not in known:
            known[value] = _declare(declared, writer, node, first)
        writer.ready[id(node)] = known[value]
    return tuple(declared)


def _declare(declared: list[Stmt], writer: ExpressionWriter, node: Expr, first: int) -> Id:
    """Add a local of the value of a node."""
    name = f"_pm_t{first + len(declared)}"
    declared.append(Declare(f"const {node.dtype.c}", name, writer.value(node, node.dtype)))
    return Id(name)
