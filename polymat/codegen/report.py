"""What was decided and why, for people: `Compiled.explain()`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from math import inf
from pathlib import Path
from typing import Any

from polymat.codegen.productreport import ProductReport, Products
from polymat.codegen.profile import Profile
from polymat.dataclass import dataclass
from polymat.errors import ArgumentError, ToolchainError, counted
from polymat.graph.arguments import check_known, fixed_sizes
from polymat.lang.expr import Parameter
from polymat.model.movement import Movement
from polymat.model.workingset import HeldReuse
from polymat.plan.schedule import Considered

MOST_ALTERNATIVES = 12  # groups that were not chosen, in a text
_BEYOND = ", with which the arrays are beyond this machine's memory; give estimates= for predictions"
NO_ARRAY = "no array: computed with the result"  # in place of where a stage is


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted cost of a call at the `estimates=`.

    seconds: None where no model says it.  bytes: that move out of each level of memory towards the cores,
    with caches that are empty at first.  level_seconds: how long each of them takes by itself.
    """

    seconds: float | None
    bytes: Mapping[str, int]
    level_seconds: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        total = "" if self.seconds is None else f"{self.seconds:.3g} s; "
        parts = [
            f"{level} {count:.4g} bytes"
            + (f" in {self.level_seconds[level]:.3g} s" if level in self.level_seconds else "")
            for level, count in self.bytes.items()
        ]
        return f"{total}from empty caches, with nothing fetched ahead, {', '.join(parts)}"


_PLACES = {NO_ARRAY: f"has {NO_ARRAY}", "kept": "computed by the first call alone, and kept"}


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group: the stages that share an implementation, and what it is.

    kind: the implementation.  order: loops, outermost first.  tile_sizes: by dimension (empty: untiled).
    parallel, vector: dimensions or None.  storage: place of each stage's array.  reason: in words.
    inside: the loops of each stage within a tile.  cost: the terms that the group was chosen by, with the
    equation of its tile sizes where they solve one.  movement: predicted bytes and seconds a level of memory,
    and which level limits; None where the models of loops do not know them.  reuses: what caches must hold
    for each array along each loop, of loops and tiles.  scores: of every loop of each
    stage as the innermost one.  predicted: seconds and bytes of this group.
    types: the element type of each stage.  folds: of arrays that keep few of their elements at a time, how
    many of how many along which dimension.
    scheme: what runs, in the atoms of `Options.scheme`, under the stage that it may be given back to; empty
    where no atoms say it.
    """

    stages: tuple[str, ...]
    kind: str
    order: tuple[str, ...]
    tile_sizes: Mapping[str, int]
    parallel: str | None
    vector: str | None
    storage: Mapping[str, str]
    library_calls: tuple[str, ...]
    reason: str
    inside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cost: str = ""
    movement: Movement | None = None
    reuses: tuple[HeldReuse, ...] = ()
    scores: Mapping[str, str] = field(default_factory=dict)
    predicted: Prediction | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    folds: Mapping[str, str] = field(default_factory=dict)
    scheme: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        way = f"{self.kind} loops {', '.join(self.order)}" if self.order else self.kind
        if self.library_calls and not self.order:
            way = f"library calls: {', '.join(self.library_calls)}"
        lines = [f"{' + '.join(self.stages)}: {way}"]
        tiles = ", ".join(f"{dim} {size}" for dim, size in self.tile_sizes.items())
        lines.append(
            f"  parallel {self.parallel or '-'}, vector {self.vector or '-'}, "
            f"{f'tiles of {tiles}' if tiles else 'untiled'}; {self.reason}"
        )
        lines += [f"  scheme of {name}: {text}" for name, text in self.scheme.items()]
        lines += [f"  in a tile, {name} loops {', '.join(order)}" for name, order in self.inside.items()]
        lines += [
            f"  {name}{f' ({self.types[name]})' if name in self.types else ''} "
            f"{_PLACES.get(place, f'in the {place}')}"
            f"{f': {self.folds[name]}' if name in self.folds else ''}"
            for name, place in self.storage.items()
        ]
        lines += [
            f"  {word}: {text}"
            for word, text in (
                ("cost", self.cost),
                ("from empty caches", str(self.movement or "")),
                ("working sets", _reuses_text(self.reuses)),
            )
            if text
        ]
        lines += [f"  innermost loop of {name}: {text}" for name, text in self.scores.items()]
        return "\n".join(lines)


def _reuses_text(reuses: Sequence[HeldReuse]) -> str:
    """How many reuses each level of memory serves, and which one needs most, in words."""
    if not reuses:
        return ""
    largest = sorted(reuses, key=lambda each: each.most)
    served = Counter(reuse.furthest for reuse in largest)
    counts = ", ".join(f"{count} within {level}" for level, count in served.items())
    return f"{counts}; the largest: {largest[-1]}"


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The decisions of one compilation, `Compiled.explain()`.

    name: of the pipeline.  groups: a `GroupReport` each, in the order in which they run.  predicted: seconds
    of a call, and bytes by level of memory.
    considered: all groups that were priced.  assumed: sizes that the predictions hold for although nobody
    gave them.  partition: what is sure of its cost.  inlined: stages that are computed in others.  inplace:
    (input, output) pairs that may be one array.  seconds: that compiling took, by level.  notes: how filters
    are computed, what else was predicted for them, and why sums are no library calls or transforms.
    beyond_memory: arrays of assumed sizes do not fit into this machine, so that predictions mean nothing.
    products: how products are computed at the sizes that were asked for, if any were; asked: who is asked.
    profile: what was measured of a call, if anything was.  page: makes the HTML of a report.
    threads: that `predicted` is for.  priced: says how many seconds other numbers of threads take.
    """

    name: str
    groups: tuple[GroupReport, ...]
    predicted: Prediction
    inlined: tuple[str, ...]
    inplace: tuple[tuple[str, str], ...]
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()
    assumed: Mapping[str, int] = field(default_factory=dict)
    partition: str = ""
    beyond_memory: bool = False
    products: tuple[ProductReport, ...] = ()
    asked: Products | None = None
    profile: Profile | None = None
    page: Callable[[Report], str] | None = None
    threads: int = 0
    priced: Callable[[int], float] | None = None

    def __getstate__(self) -> list[Any]:
        """What pickles and copies have: all that was said, and nobody to ask further or to draw a page."""
        here = {"asked", "page", "priced"}
        return [None if item.name in here else getattr(self, item.name) for item in fields(self)]

    @property
    def schemes(self) -> dict[str, str]:
        """The schemes of all groups that have one: `Options(scheme=...)` takes them back.

        A stage that has others in other sections, at the first step say, has all of them: `[...] | [...]`;
        where it shares its loops with others in some of them alone, `fuse` of its own name says where not.
        """
        shared = {name for group in self.groups if len(group.stages) > 1 for name in group.stages}
        found: dict[str, dict[str, None]] = {}
        for group in self.groups:
            for name, text in group.scheme.items():
                alone = name in shared and len(group.stages) == 1 and not text.startswith("[fuse(")
                text = f"[fuse({name}), {text[1:]}" if alone else text
                found.setdefault(name, {})[text] = None
        return {name: " | ".join(texts) for name, texts in found.items()}

    def at(self, sizes: Mapping[Parameter, int], threads: int) -> Report:
        """This report with the way that each product takes at some sizes on so many threads.

        Sizes that are not given are those that predictions hold for.
        """
        fixed = fixed_sizes(sizes, "sizes")
        if self.asked is None:
            return self
        check_known(fixed, [size.name for size in self.asked.pipeline.sizes])
        return replace(self, products=self.asked.at(fixed, threads))

    def seconds_on(self, threads: int) -> float | None:
        """Predicted seconds of a call that so many threads share; None where nothing says it.

        The plans stay those of this report, and the sizes those that predictions hold for.
        """
        if self.beyond_memory:
            return None
        if threads == self.threads or self.priced is None:
            return self.predicted.seconds if threads == self.threads else None
        return self.priced(threads)

    def __str__(self) -> str:
        lines = [f"{self.name}: {counted(len(self.groups), 'group')}"]
        lines += [str(group) for group in self.groups]
        lines += map(str, self.products)
        if self.inlined:
            lines.append(f"inlined or shared: {', '.join(self.inlined)}")
        lines += [
            f"the output {output} may be given the input {array} (out={array})"
            for array, output in self.inplace
        ]
        lines += self.notes
        lines += [f"measured: {self.profile}"] if self.profile is not None else []
        lines += [f"partition {self.partition}"] if self.partition else []
        lines += self._alternatives()
        if self.predicted.bytes and not self.beyond_memory:
            lines.append(f"predicted: {self.predicted}")
        if self.assumed:
            sizes = ", ".join(f"{name} {size}" for name, size in self.assumed.items())
            lines.append(f"sizes assumed for want of estimates=: {sizes}{_BEYOND * self.beyond_memory}")
        spent = ", ".join(f"{level} {seconds * 1e3:.1f} ms" for level, seconds in self.seconds.items())
        return "\n".join([*lines, f"compiled in: {spent}"])

    def __repr__(self) -> str:
        return str(self)

    def _alternatives(self) -> list[str]:
        """Groups that were looked at and not chosen: those that could be, then the refused ones."""
        chosen = {group.stages for group in self.groups}
        others = [item for item in self.considered if item.stages not in chosen and len(item.stages) > 1]
        if not others:
            return []
        refused = sum(item.cost == inf for item in others)
        shown = sorted(others, key=lambda item: item.cost == inf)[:MOST_ALTERNATIVES]
        lines = [f"groups considered and not chosen: {len(others)}, of which {refused} refused"]
        lines += [f"  {item}" for item in shown]
        if len(others) > len(shown):
            lines.append(f"  and {len(others) - len(shown)} more")
        return lines

    def _repr_html_(self) -> str:
        return f"<pre>{_escaped(str(self))}</pre>" if self.page is None else self.page(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as a page of HTML."""
        if not isinstance(path, str | os.PathLike):
            raise ArgumentError(f"save() takes the path of a file, got {path!r:.60}")
        target = Path(path)
        page = (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<title>{_escaped(self.name)}: what polymat decided</title>\n<link rel="icon" href="data:,">\n'
            f'</head>\n<body style="margin: 0">\n{self._repr_html_()}\n</body>\n</html>\n'
        )
        try:
            target.write_text(page, encoding="utf-8")
        except (OSError, ValueError) as error:  # ValueError: a null character in the path
            raise ToolchainError(f"cannot write the report to {target}: {error}") from error
        return target


def _escaped(text: str) -> str:
    import html  # which notebooks and saved reports alone need

    return html.escape(text, quote=True)
