"""How the operands of a product lie in memory, for turned blocks and for pairs of complex numbers."""

from __future__ import annotations

from polymat.graph.monomials import Factor


def is_contiguous(factor: Factor, dim: str) -> bool:
    """Whether neighbours along a dimension are neighbours in memory."""
    return (
        bool(factor.indices)
        and factor.indices[-1].coefficient(dim) == 1
        and not any(form.coefficient(dim) for form in factor.indices[:-1])
    )
