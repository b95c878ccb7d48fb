"""The C language: its tree and its text, expressions with NumPy's arithmetic, names, vectors."""
