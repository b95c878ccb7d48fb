"""Measured search among the ways that the compiler can compute a program in."""
