"""Readers of a product that run between its parts, as who writes the product sees them."""

from __future__ import annotations

from typing import Protocol

from polymat.codegen.c.ctree import CExpr, CFunction, Stmt
from polymat.graph.stage import Stage


class Finish(Protocol):
    """The readers of a product that are computed on each part of it as soon as that is complete."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The readers."""

    @property
    def functions(self) -> tuple[CFunction, ...]:
        """The function that is called with each part, after those that it calls."""

    def statements(self) -> tuple[Stmt, ...]:
        """Declarations before the product."""

    def arguments(self) -> tuple[CExpr, CExpr]:
        """The function, and what it is handed beside the part."""
