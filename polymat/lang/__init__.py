"""What the user writes: types, expressions, functions, matrices and signals."""
