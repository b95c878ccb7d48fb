"""Values that an expression uses several times, computed once."""

from __future__ import annotations

from polymat.codegen.c.cexpr import ExpressionWriter
from polymat.codegen.c.ctree import Declare, Id, Stmt
from polymat.lang.expr import Expr
from polymat.lang.sharing import computed_once


def shared_values(writer: ExpressionWriter, expr: Expr, first: int = 0) -> tuple[Stmt, ...]:
    """Declare a local for every operation that is computed once.

    The writer then knows the locals; `first` is the number of the first one.
    """
    declared: list[Stmt] = []
    for node in computed_once(expr):
        name = f"_pm_t{first + len(declared)}"
        declared.append(Declare(f"const {node.dtype.c}", name, writer.value(node, node.dtype)))
        writer.ready[id(node)] = Id(name)
    return tuple(declared)
