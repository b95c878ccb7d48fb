"""Transforms and filters as nests."""
