"""Elements of vectors by the suffix of their type: what they are in C, and how large."""

from __future__ import annotations

C_TYPES = {"f32": "float", "f64": "double"}
INTEGERS = {"f32": "int", "f64": "long long"}  # as large as an element, for masks and places of lanes
ELEMENT_BYTES = {"f32": 4, "f64": 8}
