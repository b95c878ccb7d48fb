"""Pictures of `docs/how.md`: graphs of its program before and after grouping, tiles, and blocks of a product.

All are drawn by the compiler's own drawing or from the plan that it makes, when the site is built.
"""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import polymat as pm
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.machine.known import HASWELL
from polymat.options import DEFAULTS
from polymat.page.document import style
from polymat.page.drawing import drawing
from polymat.page.markup import element, number, text
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan

WIDEST = 760.0
PAPER = "<rect width='100%' height='100%' fill='#ffffff'/>"
COLOURS = {"ink": "#1d232b", "pale": "#5b6572", "part": "#7fa3d1", "strong": "#1f5fae"}
ROW, LEFT, TOP = 16.0, 76.0, 34.0  # of the picture of tiles


def write_pictures(directory: Path) -> None:
    """Write `_NAME.svg` for every picture."""
    directory.mkdir(exist_ok=True)
    for name, picture in pictures():
        (directory / f"_{name}.svg").write_text(picture, encoding="utf-8")


def pictures() -> Iterator[tuple[str, str]]:
    """The names and texts of all."""
    found = compiled_levels(_program().sharp)
    built, schedule = found["built"], found["tilesize"]
    assert isinstance(built, Pipeline)
    assert isinstance(schedule, Schedule)
    names = [stage.name for stage in built.stages]
    yield "stages", _graph(built, [[name] for name in names], [""] * len(names))
    groups = [plan.group.stages for plan in schedule.plans]
    titles = [f"{k}. {plan.kind}" for k, plan in enumerate(schedule.plans, 1)]
    yield "groups", _graph(schedule.grouping.pipeline, groups, titles)
    (tiled,) = (plan for plan in schedule.plans if isinstance(plan, TilePlan))
    yield "tiles", tiles(tiled)
    (product,) = compiled_levels(_product(), pm.Options(blas="never"))["tilesize"].plans
    yield "blocks", blocks(product.inner.blocks)


def _program() -> Any:
    """The module of the tutorial's program, read from its page."""
    page = Path(__file__).with_name("how.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)[:1]
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("program", None))  # type: ignore[arg-type]
    with redirect_stdout(io.StringIO()):
        exec(compile(code, "how.md", "exec"), module.__dict__)
    return module


def _product() -> pm.Function:
    """A product that reads another array, which runs around register blocks."""
    M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
    A, B, C = (
        pm.Matrix(pm.Double, name, dims) for name, dims in (("A", [M, K]), ("B", [K, N]), ("C", [M, N]))
    )
    return pm.gemm(A, B, C, 2.0, 1.0).named("D")


def compiled_levels(output: pm.Function, options: pm.Options = DEFAULTS) -> dict[str, Any]:
    """The levels of a compilation for a Haswell with two cores, as far as they are pictures."""
    found: dict[str, Any] = {}
    request = request_for(output, options=options)
    for name, level in levels(replace(request, machine=replace(HASWELL, cores=2))):
        found[name] = level
        if name == "tilesize":
            return found
    raise AssertionError("there is such a level")


def _graph(pipeline: Pipeline, groups: Sequence[Sequence[str]], titles: Sequence[str]) -> str:
    """The graph as a file of its own, in the colours of a page in the light."""
    rules = "".join(re.findall(r"^\.polymat-page svg .*$", style(), re.M)).replace(".polymat-page svg", "svg")
    known = dict(re.findall(r"(--\w+): (#\w+);", style().partition("@media")[0]))
    for name, colour in known.items():
        rules = rules.replace(f"var({name})", colour)
    links = [f"pm-{number}" for number in range(1, len(groups) + 1)]
    return standing_alone(drawing(pipeline, groups, titles, links, "pm", WIDEST), rules)


def standing_alone(picture: str, rules: str = "") -> str:
    """A drawing within a page as one that is a file."""
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)[0]
    head, opened, rest = picture.partition(">")
    head = head.replace(
        "<svg", f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"', 1
    )
    rest = re.sub(r' href="#[^"]*"', "", rest)
    return f"{head}{opened}<style>{rules}</style>{PAPER}{rest}\n"


def tiles(plan: TilePlan) -> str:
    """The rows that each stage computes for two tiles, one behind the other."""
    size, many = plan.sizes[0], 2
    first = min(-member.margins[0][0] for member in plan.members)
    last = many * size + max(member.margins[0][1] for member in plan.members)
    parts = []
    for row in range(first, last):
        y = TOP + ROW * (row - first)
        parts.append(_words(f"row {row}" if row >= 0 else f"{-row} above", LEFT - 56, y + ROW - 4))
    for column, member in enumerate(plan.members):
        x = LEFT + 170 * column
        (before, after), *_ = member.margins
        parts.append(_words(member.stage, x, TOP - 12, weight="bold"))
        for tile in range(many):
            low, high = tile * size - before, (tile + 1) * size + after
            done = (tile * size + after) if tile and plan.rolling else low
            for row in range(low, high):
                if row >= done:
                    y = TOP + ROW * (row - first)
                    parts.append(_box(x + 70 * tile, y, 64, ROW, "part" if tile else "strong"))
                else:
                    y = TOP + ROW * (row - first)
                    parts.append(_box(x + 70 * tile, y, 64, ROW, ""))
    bottom = TOP + ROW * (last - first) + 22
    told = f"Tiles of {size} rows, the first one dark, the second light"
    told += "; dashed: still there from the first" if plan.rolling else ""
    parts.append(_words(told, LEFT - 56, bottom))
    return _picture(parts, max(LEFT + 170 * len(plan.members), 7.5 * len(told)), bottom + 12)


def blocks(found: Any) -> str:
    """The blocks of a product D = A B: which part of each matrix is in which cache."""
    wide, high, deep = 190.0, 170.0, 150.0
    a, b, d = (20.0, 210.0), (210.0, 34.0), (210.0, 210.0)
    columns = found.vectors * found.lanes
    parts = [
        *_matrix("A", a, deep, high),
        *_matrix("B", b, wide, deep),
        *_matrix("D", d, wide, high),
        _box(a[0] + 30, a[1] + 40, 60, 54, "part"),
        _box(a[0] + 30, a[1] + 58, 60, 14, "strong"),
        _box(b[0] + 24, b[1] + 30, 140, 60, "part"),
        _box(b[0] + 84, b[1] + 30, 18, 60, "strong"),
        _box(d[0] + 24, d[1] + 40, 140, 54, "part"),
        _box(d[0] + 84, d[1] + 58, 18, 14, "strong"),
    ]
    told = (
        f"B: {found.kc} rows and up to {found.nc} columns are copied, for the last cache;",
        f"a strip of {columns} of them stays in the first one (dark).",
        f"A: {found.mc} rows of {found.kc} columns are copied, for the second cache,",
        f"of which {found.rows} (dark) are read at a time.",
        f"D: {found.rows} x {columns} sums stay in registers (dark) while the",
        f"{found.kc} products of each are added; then they go to memory.",
    )
    parts += [_words(line, 420, 120 + 20 * k + 12 * (k // 2)) for k, line in enumerate(told)]
    return _picture(parts, 860, 400)


def _matrix(name: str, at: tuple[float, float], width: float, height: float) -> Iterator[str]:
    yield _box(*at, width, height, "")
    yield _words(name, at[0] + 6, at[1] + 16, weight="bold")


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle; without a kind its dashed frame alone."""
    look = (
        {"fill": COLOURS[kind], "stroke": "#ffffff"} if kind else {"fill": "none", "stroke": COLOURS["pale"]}
    )
    dashed = {} if kind else {"stroke_dasharray": "4 3"}
    places = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    return element("rect", **places, **look, **dashed)


def _words(words: str, x: float, y: float, weight: str = "normal") -> str:
    look = {"fill": COLOURS["ink"], "font_family": "sans-serif", "font_size": 13, "font_weight": weight}
    return text("text", words, x=number(x), y=number(y), **look)


def _picture(parts: Sequence[str], width: float, height: float) -> str:
    drawn = element("svg", "".join(parts), viewBox=f"0 0 {number(width)} {number(height)}", role="img")
    return standing_alone(drawn)
