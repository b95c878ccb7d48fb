"""The theory of contractions: their dimensions, their blocks, the ways to carry them out, and prices."""
