"""The graph of a pipeline as SVG: stages as boxes, groups around them, arrows for what is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.errors import counted
from polymat.graph.pipeline import Pipeline
from polymat.page.boxrows import Arranged, Box, placed
from polymat.page.markup import element, number, text

LETTER, LINE = 7.3, 17.0  # of the text in boxes
INSIDE, TITLE = 10.0, 20.0  # around the stages of a group, and for its name above them
LONGEST = 28  # letters of a name, and of the extents of an input
MOST_DRAWN = 150  # stages; of more a drawing shows nothing

Path = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """Something that is placed as one: an input, or a group with its stages placed inside it."""

    name: str
    inside: Arranged | None
    number: int


def drawing(
    pipeline: Pipeline,
    groups: Sequence[Sequence[str]],
    titles: Sequence[str],
    links: Sequence[str],
    marker: str,
    widest: float,
) -> str:
    """The graph, at most about `widest` units wide; groups lead to the cards of theirs.

    links: the ids of the cards.  marker: the beginning of ids that no other drawing of the page has.
    """
    blocks, whole = _placed_blocks(pipeline, groups, titles, widest)
    parts = [_marker(marker), *(_arrow(path, marker) for path in whole.paths.values())]
    for block in blocks:
        box = whole.boxes[block.name]
        if block.inside is None:
            parts += _input(pipeline, box)
        else:
            parts += _group(pipeline, box, block, titles[block.number], links[block.number], marker)
    width, height = whole.width + 4, whole.height + 4
    body = element("g", "".join(parts), transform="translate(2 2)")
    return element(
        "svg",
        f"<title>{counted(len(pipeline.stages), 'stage')} in {counted(len(groups), 'group')}</title>{body}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        style=f"max-width: {number(width)}px",
    )


def _placed_blocks(
    pipeline: Pipeline, groups: Sequence[Sequence[str]], titles: Sequence[str], widest: float
) -> tuple[list[_Block], Arranged]:
    """Inputs and groups, each group laid out inside, then all of them."""
    homes = {array.name: f"input {array.name}" for array in pipeline.inputs}
    homes |= {name: f"group {k}" for k, group in enumerate(groups) for name in group}
    blocks = [_Block(f"input {array.name}", None, -1) for array in pipeline.inputs]
    boxes = [_box(f"input {array.name}", _input_lines(pipeline, array.name)) for array in pipeline.inputs]
    for k, group in enumerate(groups):
        stages = [_box(name, _stage_lines(pipeline, name)) for name in group]
        inside = placed(stages, _reads(pipeline, group), widest - 2 * INSIDE)
        blocks.append(_Block(f"group {k}", inside, k))
        width = max(inside.width, LETTER * min(len(titles[k]), LONGEST + 10)) + 2 * INSIDE
        boxes.append(Box(f"group {k}", width, inside.height + TITLE + 2 * INSIDE))
    every = [name for group in groups for name in group]
    inputs = [array.name for array in pipeline.inputs]
    between = [(homes[a], homes[b]) for a, b in _reads(pipeline, every, inputs) if homes[a] != homes[b]]
    return blocks, placed(boxes, between, widest)


def _reads(
    pipeline: Pipeline, stages: Sequence[str], inputs: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Who reads what: pairs of a source, one of the stages or inputs, and a stage."""
    sources = {*stages, *inputs}
    for name in stages:
        for load in pipeline.stage(name).loads():
            source = load.source.name
            if source != name and source in sources:
                yield source, name


def _box(name: str, lines: Sequence[str]) -> Box:
    width = LETTER * max(map(len, lines)) + 16
    return Box(name, width, LINE * len(lines) + 8)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _input_lines(pipeline: Pipeline, name: str) -> tuple[str, ...]:
    (array,) = (array for array in pipeline.inputs if array.name == name)
    extents = [str(each) for each in array.extents]
    if len(extents) > 1:
        extents = [f"({each})" if " " in each else each for each in extents]
    return _short(name), _short(f"{array.dtype} {' × '.join(extents) or 'scalar'}")


def _stage_lines(pipeline: Pipeline, name: str) -> tuple[str, ...]:
    stage = pipeline.stage(name)
    kind = f"{stage.op.name} over {', '.join(_reduced(pipeline, name))}" if stage.op else str(stage.dtype)
    return _short(name), _short(kind)


def _reduced(pipeline: Pipeline, name: str) -> tuple[str, ...]:
    found = (dim for item in pipeline.stage(name).accumulations for dim in item.reduced_dims)
    return tuple(dict.fromkeys(found)) or ("no dimension",)


def _lines_in(box: Box, lines: Sequence[str], x: float, y: float) -> str:
    middle = x + box.width / 2
    return "".join(
        text(
            "text",
            line,
            x=number(middle),
            y=number(y + LINE * (k + 1) - 1),
            text_anchor="middle",
            class_="name" if k == 0 else "small",
        )
        for k, line in enumerate(lines)
    )


def _rectangle(x: float, y: float, box: Box, kind: str) -> str:
    sizes: Mapping[str, object] = {"x": number(x), "y": number(y), "rx": 5, "class_": kind}
    return element("rect", "", width=number(box.width), height=number(box.height), **sizes)


def _input(pipeline: Pipeline, box: Box) -> list[str]:
    lines = _input_lines(pipeline, box.name.removeprefix("input "))
    return [_rectangle(box.x, box.y, box, "input"), _lines_in(box, lines, box.x, box.y)]


def _group(pipeline: Pipeline, box: Box, block: _Block, title: str, link: str, marker: str) -> list[str]:
    """A group and its stages, with a link to its card."""
    assert block.inside is not None
    shown = title if len(title) <= LONGEST + 10 else f"{title[: LONGEST + 9]}…"
    parts = [
        _rectangle(box.x, box.y, box, "group"),
        text("text", shown, x=number(box.x + INSIDE), y=number(box.y + LINE), class_="title"),
    ]
    left = box.x + (box.width - block.inside.width) / 2
    top = box.y + TITLE + INSIDE
    for path in block.inside.paths.values():
        parts.append(_arrow(tuple((x + left, y + top) for x, y in path), marker))
    for name, inner in block.inside.boxes.items():
        kind = "stage output" if name in pipeline.outputs else "stage"
        parts.append(_rectangle(inner.x + left, inner.y + top, inner, kind))
        parts.append(_lines_in(inner, _stage_lines(pipeline, name), inner.x + left, inner.y + top))
    return [element("a", "".join(parts), href=f"#{link}")]


def _arrow(path: Path, marker: str) -> str:
    """A smooth line through the points of a path: straight within rows, curved between them."""
    (x, y), *others = path
    steps = [f"M{number(x)} {number(y)}"]
    for k, (right, down) in enumerate(others):
        if k % 2 == 0:
            half = (y + down) / 2
            places = ((x, half), (right, half), (right, down - (3 if k == len(others) - 1 else 0)))
            steps.append("C" + " ".join(f"{number(a)} {number(b)}" for a, b in places))
        else:
            steps.append(f"L{number(right)} {number(down)}")
        x, y = right, down
    return element("path", d="".join(steps), class_="arrow", marker_end=f"url(#{marker}-head)")


def _marker(name: str) -> str:
    head = element("path", d="M0 0L6 3L0 6z", class_="head")
    sizes = {"markerWidth": 6, "markerHeight": 6, "refX": 5, "refY": 3, "orient": "auto"}
    return element("defs", element("marker", head, id=f"{name}-head", **sizes))
