"""Points that need each other, for who wrote stages that cannot be ordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import PolymatError
from polymat.graph.interpret import Unfolded, unfolded
from polymat.graph.pipeline import Pipeline
from polymat.graph.unfold import Place

MOST_ELEMENTS = 20_000  # that are looked through at some sizes
_TRIED = range(1, 6)  # sizes, all of them the same


@dataclass(frozen=True, slots=True)
class CircleOfPoints:
    """Elements each of which needs the next, the last one being the first; where: at which sizes."""

    elements: tuple[str, ...]
    where: str


def circle_of_points(pipeline: Pipeline, names: Sequence[str]) -> CircleOfPoints | None:
    """The first circle of elements of some stages at small sizes; None where there is none."""
    for sizes in _small_sizes(pipeline):
        try:
            found = unfolded(pipeline, names, sizes)
        except (PolymatError, ValueError, MemoryError, IndexError):
            continue  # what else is wrong at these sizes is told elsewhere
        if found.size <= MOST_ELEMENTS and (circle := _circle(found)) is not None:
            elements = tuple(_element(found.places, number) for number in circle)
            text = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            return CircleOfPoints(elements, f" (with {text})" if text else "")
    return None


def _small_sizes(pipeline: Pipeline) -> Iterator[Mapping[str, int]]:
    names = [size.name for size in pipeline.sizes]
    for value in _TRIED:
        forms = [form.evaluate(dict.fromkeys(names, value)) for form, _ in pipeline.constraints]
        if all(form >= 0 for form in forms):
            yield dict.fromkeys(names, value)


def _circle(found: Unfolded) -> list[int] | None:
    """Elements that need each other, from one to itself again."""
    pairs = [edge for edge in found.edges() if edge[0].size]
    needs: dict[int, list[int]] = {}
    for sources, targets in pairs:
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            needs.setdefault(target, []).append(source)
    done: set[int] = set()
    for start in needs:
        path, position = [start], {start: 0}
        rest = [iter(needs[start])]
        while path:
            following = next((each for each in rest[-1] if each not in done), None)
            if following is None:
                done.add(path[-1])
                del position[path.pop()]
                rest.pop()
            elif following in position:
                return [*path[position[following] :], following]
            else:
                position[following] = len(path)
                path.append(following)
                rest.append(iter(needs.get(following, ())))
    return None


def _element(places: Mapping[str, Place], number: int) -> str:
    """An element by its stage and its indices."""
    name = max((name for name in places if places[name].base <= number), key=lambda each: places[each].base)
    place = places[name]
    index = [int(k) for k in np.unravel_index(number - place.base, place.shape)] if place.shape else []
    return f"{name}({', '.join(str(k + low) for k, low in zip(index, place.origin, strict=True))})"
