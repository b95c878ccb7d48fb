"""Measuring the machine and its libraries, where models are not enough."""
