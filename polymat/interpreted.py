"""What a program means, and what it was compiled from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from polymat.dataclass import dataclass
from polymat.request import Request

if TYPE_CHECKING:
    from polymat.graph.pipeline import Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class Interpreted:
    """The meaning of a request, by the interpreter; built: gives the pipeline as it was built."""

    built: Callable[[], Pipeline]
    request: Request | None = None

    def __call__(
        self, arrays: Mapping[str, Any], scalars: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> list[Any]:
        """The outputs in order."""
        from polymat.graph.interpret import interpret  # imported where a reference is asked for

        pipeline, params = self.built(), {**scalars, **sizes}
        values = interpret(pipeline, arrays, params)
        if not pipeline.trim:
            return [values[output] for output in pipeline.outputs]
        trimmed = []
        for output in pipeline.outputs:
            low = [max(int(lo.evaluate(params)), 0) for lo, _ in pipeline.stage(output).box]
            trimmed.append(values[output][tuple(slice(lo, None) for lo in low)])
        return trimmed
