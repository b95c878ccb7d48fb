"""Routines of BLAS and FFT libraries: called, chosen at each call, and what is written around them."""
