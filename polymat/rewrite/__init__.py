"""Pipelines rewritten before they are divided into groups: filters and transforms computed another way."""
