"""What is said of loops of which iterations are lanes of vectors, or shared out: facts that writers read."""

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


@dataclass(frozen=True, slots=True)
class SharedOut:
    """Threads share the iterations, where there are several; vectors: each runs its own side by side.

    threads: how many there are, in C.  Its string is what a C compiler is told.
    """

    threads: str
    vectors: bool

    def __str__(self) -> str:
        simd = "simd " if self.vectors else ""
        return f"omp parallel for {simd}num_threads({self.threads}) if({self.threads} > 1)"


Pragma = str | Vectors | SharedOut
VECTORS = Vectors()
"""Of a loop whose points are independent of each other."""


def in_vectors(pragma: Pragma) -> bool:
    """Whether the iterations of a loop of which that is said are the lanes of vectors."""
    match pragma:
        case Vectors():
            return True
        case SharedOut(vectors=vectors):
            return vectors
        case _:
            return False
