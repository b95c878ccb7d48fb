"""Where threads cut a range into parts: in whole units, or a triangle's lines into parts of the same area.

Written down once: `shares` evaluates these, and generated code computes them (`polymat.codegen.cutranges`).
"""

from __future__ import annotations

from polymat.product.formulanames import Name
from polymat.product.numbers import quotient, root, whole

length, unit, part, parts = map(Name, ("length", "unit", "part", "parts"))

even = whole(quotient(length, unit) * part, parts) * unit
"""Where a part begins, of whole numbers; the last ones begin at the end at most, which units may pass."""

area = length * root(part / parts)
"""Lines of a triangle, from its tip, that have so many of its parts; cut off to a whole number."""
