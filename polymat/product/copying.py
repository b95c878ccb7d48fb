"""What is paid for the pairs of real values that complex products are computed with.

Prices are in operations at the peak (`polymat.product.prices`).
"""

from __future__ import annotations

PAIRING = 30.0  # writing a real value of the pairs that complex products are computed with


def pairing_operations(n: float, k: float) -> float:
    """Operations that writing the pairs of a complex right operand is worth, of k x n real values."""
    return PAIRING * k * n
