"""Products of matrices and contractions around register blocks."""
