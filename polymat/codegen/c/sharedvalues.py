"""Values that an expression uses several times, computed once."""

from __future__ import annotations

from polymat.codegen.c.cexpr import ExpressionWriter
from polymat.codegen.c.ctree import Declare, Id, Stmt
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.sharing import computed_once, loaded_ahead


def shared_values(
    writer: ExpressionWriter, expr: Expr, first: int = 0, *, ahead: bool = False
) -> tuple[Stmt, ...]:
    """Declare a local for every operation that is computed once, and for elements that are loaded ahead.

    The writer then knows the locals; `first` is the number of the first one.

    before:  y[i] = c[i] < 0 ? a[i] : b[i]
    after:   const float t0 = a[i];  const float t1 = b[i];  y[i] = c[i] < 0 ? t0 : t1
    """
    declared: list[Stmt] = []
    names: dict[tuple[str, tuple[Affine, ...]], Id] = {}
    for load in loaded_ahead(expr) if ahead else ():
        element = load.source.name, load.indices
        if element not in names:
            names[element] = _declare(declared, writer, load, first)
        writer.ready[id(load)] = names[element]
    for node in computed_once(expr):
        writer.ready[id(node)] = _declare(declared, writer, node, first)
    return tuple(declared)


def _declare(declared: list[Stmt], writer: ExpressionWriter, node: Expr, first: int) -> Id:
    """Add a local of the value of a node."""
    name = f"_pm_t{first + len(declared)}"
    declared.append(Declare(f"const {node.dtype.c}", name, writer.value(node, node.dtype)))
    return Id(name)
