"""The sections of the benchmarks, by name."""

from __future__ import annotations

from benchmarks.section import Section
from benchmarks.sections import (
    channels,
    contractions,
    convolutions,
    data,
    factorisations,
    filters,
    functions,
    images,
    networks,
    npbench,
    polybench,
    products,
    recurrences,
    recursive,
    rows,
    stencils,
    transforms,
)

_MODULES = (
    polybench,
    stencils,
    images,
    recurrences,
    factorisations,
    npbench,
    data,
    channels,
    products,
    contractions,
    networks,
    convolutions,
    transforms,
    filters,
    functions,
    recursive,
    rows,
)
SECTIONS: dict[str, Section] = {section.name: section for module in _MODULES for section in module.SECTIONS}
