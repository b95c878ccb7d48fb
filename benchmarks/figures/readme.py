"""README's tables: written between markers from the records in benchmarks/results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.figures.glance import glance_lines, kept_in
from benchmarks.figures.tables import Column, Table, caption, table_lines
from benchmarks.harness import ROOT
from benchmarks.records import read_record

README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
_BEST = "best of NumPy, Numba, JAX, PyTorch"
_ARRAYS = Column(_BEST, (_BEST, "NumPy", "Numba", "JAX", "torch", "torch.compile"))
_NUMPY = Column("NumPy", ("NumPy",))
TABLES: Mapping[str, Table] = {
    "blas2": Table("blas2", "polymat", (_NUMPY, _ARRAYS, Column("C, `gcc -O3`", ("C",))), ("LARGE",)),
    "products": Table(
        "products",
        "polymat",
        (_NUMPY, _ARRAYS, Column("OpenBLAS from C", ("OpenBLAS",)), Column("MKL from C", ("MKL",))),
        ("LARGE",),
        rate=True,
    ),
    "dsp": Table("dsp", "polymat", (Column("best SciPy version", ("SciPy, best",)),)),
    "stencils": Table(
        "stencils",
        "polymat, out=",
        (
            Column("stage by stage", ("unfused, out=",)),
            Column("naive", ("naive, out=",)),
            Column("NumPy (new arrays)", ("NumPy",)),
        ),
        ("LARGE",),
    ),
}
GLANCE = "glance"  # the name of the table of all sections
_MARKED = re.compile(r"(?P<begin><!-- figures: (?P<name>\w+) -->\n).*?(?P<end><!-- end -->)", re.S)


def readme_with_figures(text: str, results: Path = RESULTS) -> str:
    """README with its tables as the records have them now."""

    def written(found: re.Match[str]) -> str:
        return f"{found['begin']}{shown(found['name'], results)}{found['end']}"

    return _MARKED.sub(written, text)


def shown(name: str, results: Path = RESULTS) -> str:
    """The caption and the table of that name, or all sections at a glance."""
    if name == GLANCE:
        return "\n".join(["", *glance_lines(kept_in(results)), "", ""])
    table = TABLES[name]
    record = read_record(results / f"{table.section}.json")
    return "\n".join(["", caption(record, table.section), "", *table_lines(record, table), "", ""])
