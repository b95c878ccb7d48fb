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
        found = []
        for output in pipeline.outputs:
            lows = [int(low.evaluate(params)) for low, _ in pipeline.stage(output).box]
            # Arrays begin at lows below 0, which only an output without points has.
            firsts = [max(low if pipeline.trim else -low, 0) for low in lows]
            # With ... a single number is an array, too.
            index: tuple[Any, ...] = (*(slice(first, None) for first in firsts), ...)
            found.append(values[output][index])
        return found
