"""Graphviz text of a pipeline."""

from __future__ import annotations

from polymat.graph.pipeline import Pipeline


def to_dot(pipeline: Pipeline) -> str:
    """The DAG for `dot -Tsvg`: inputs as boxes, reductions doubled, outputs bold."""
    lines = ["digraph pipeline {", "  node [fontname=monospace];"]
    for array in pipeline.inputs:
        extents = ", ".join(map(str, array.extents))
        lines.append(f'  "{array.name}" [shape=box, label="{array.name}\\n{array.dtype} [{extents}]"];')
    for stage in pipeline.stages:
        style = "style=bold, " if stage.name in pipeline.outputs else ""
        rings = 2 if stage.is_reduction else 1
        label = f"{stage.name}\\n{stage.dtype} {stage.domain}"
        lines.append(f'  "{stage.name}" [{style}peripheries={rings}, label="{label}"];')
        sources = dict.fromkeys(load.source.name for load in stage.loads())
        lines += [f'  "{source}" -> "{stage.name}";' for source in sources]
    return "\n".join([*lines, "}", ""])
