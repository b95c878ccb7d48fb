"""Measured search over implementations."""
