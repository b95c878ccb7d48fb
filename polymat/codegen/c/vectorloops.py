"""What is said of a loop whose iterations are the lanes of vectors: a fact that other writers read."""

from __future__ import annotations

from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Vectors:
    """Iterations may run side by side; sums: what they add up or compare, each operation with its variables.

    Its string is what a C compiler is told.
    """

    sums: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        clauses = (f"reduction({operation}:{', '.join(names)})" for operation, names in self.sums)
        return " ".join(["omp simd", *clauses])


Pragma = str | Vectors
VECTORS = Vectors()
"""Of a loop whose points are independent of each other."""
