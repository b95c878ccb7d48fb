"""The sections of the benchmarks, by name."""

from __future__ import annotations

from benchmarks.section import Section
from benchmarks.sections import polybench

SECTIONS: dict[str, Section] = {section.name: section for section in (*polybench.SECTIONS,)}
