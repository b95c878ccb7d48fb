"""The machine that decisions are made for."""
