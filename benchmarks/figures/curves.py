"""Curves of searches: how near their best they are after so many trials, and what so many trials come to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.convergence import Curve, least
from benchmarks.figures.pictures import LINES, MARKERS, svg
from polymat.search.tuned import expected

SEARCHES, CURVES = "searches", "convergence-*.json"
CONFIDENCES = (0.5, 0.9)
WAYS = (("guided", "with the model"), ("free", "without"))


def curves_in(results: Path) -> Iterator[tuple[Path, Mapping[str, Any], list[Curve]]]:
    """The files of searches, each with its conditions and its cases."""
    for path in sorted((results / SEARCHES).glob(CURVES)):
        kept = json.loads(path.read_text(encoding="utf-8"))
        yield path, kept["conditions"], [Curve(**case) for case in kept["cases"].values()]


def searches_page(results: Path) -> Iterator[tuple[str, str, str]]:
    """Every picture: its name, what it is of, and itself."""
    for path, conditions, cases in curves_in(results):
        for case in cases:
            about = case.about
            words = f"{case.name}, {conditions['threads']} thread(s)\n{about['machine']}\n"
            words += f"{about['compiler']}; {about['date']}"
            yield f"{path.stem}-{case.name}", f"{case.name}, trials", _trials(case, words)
            yield f"{path.stem}-{case.name}-expect", f"{case.name}, expect(n, τ)", _expected(case, words)


def _trials(case: Curve, title: str) -> str:
    return svg(_draw_trials, case, height=3.2, title=title)


def _draw_trials(axes: Any, case: Curve) -> None:
    for number, (name, words) in enumerate(WAYS):
        ratios = getattr(case, name)
        counts = range(len(ratios) + 1)
        _line(axes, counts, [1 / least(ratios, count) for count in counts], number, words)
        timed = [(at, 1 / ratio) for at, ratio in enumerate(ratios, 1) if ratio > 0.0]
        axes.plot(
            [at for at, _ in timed],
            [speed for _, speed in timed],
            linestyle="",
            marker=MARKERS[number],
            markersize=3,
            color="black" if number == 0 else "0.5",
        )
    axes.axhline(1.0, color="0.7", linewidth=0.8)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("trials: points are single ones, lines the best so far")
    axes.set_ylabel("times as fast as the default")
    axes.legend(fontsize=8)


def _expected(case: Curve, title: str) -> str:
    return svg(_draw_expected, case, height=3.2, title=title)


def _draw_expected(axes: Any, case: Curve) -> None:
    for number, (name, words) in enumerate(WAYS):
        ratios = [ratio for ratio in getattr(case, name) if ratio > 0.0]
        for place, confidence in enumerate(CONFIDENCES if ratios else ()):
            counts = range(1, len(ratios) + 1)
            speeds = [expected(ratios, count, confidence) for count in counts]
            _line(axes, counts, speeds, 2 * place + number, f"{words}, τ = {confidence:g}")
    axes.axhline(1.0, color="0.7", linewidth=0.8)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("n, of trials that are drawn at random from those that were timed")
    axes.set_ylabel("times as fast as the default, at least")
    axes.legend(fontsize=8)


def _line(axes: Any, places: Sequence[int], values: Sequence[float], number: int, label: str) -> None:
    shade = "black" if number % 2 == 0 else "0.5"
    axes.step(places, values, where="post", linestyle=LINES[number], color=shade, label=label)
