"""Recognition of BLAS and FFT idioms."""
