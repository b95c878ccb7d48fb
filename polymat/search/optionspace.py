"""The space of a search where groups are not chosen one by one: options, as a user could have given them.

Programs that take steps are such, and those whose groups can be computed in one way each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from random import Random

from polymat.checked import check
from polymat.decide.changes import carried_out
from polymat.driver import levels
from polymat.graph.selection import Changes, Selection, TunedChoice
from polymat.options import DEFAULTS, Options
from polymat.request import Request
from polymat.steps import Job, Level

CHANGES: Changes = (
    *(
        ("skip", (name,))
        for name in ("bands", "skews", "segments", "waits", "planes", "fusion", "inline", "parts")
    ),
    *(("tile_sizes", sizes) for sizes in ((16, 512), (64, 256), (64,))),
    ("blas", "never"),
    *((name, False) for name in ("kernels", "steps", "unroll", "outwards", "rolling", "overlap", "vector")),
)
"""What is tried one by one, in this order, and then together."""
ROWS = (4, 8, 16, 32, 64, 128)  # of further tiles
ROW = (64, 128, 256, 512, 1024, 4096)  # elements of such a row
AFRESH = 0.2  # of the choices begin with the default, not with the best so far
FURTHER = 0.4  # of the steps have another one behind them
MOST_DRAWS = 20  # times that choices are drawn in vain


class OptionSpace:
    """Choices for one program: the values of options that the user has left as they are."""

    def __init__(self, request: Request, seed: int = 0) -> None:
        self.request = replace(request, found=None)
        self.seed = seed
        self.default = Selection(())
        self.open = tuple(change for change in CHANGES if _is_open(change[0], request.options))

    def job(self, choice: Selection) -> Job:
        """The compilation of a choice."""
        return Job(carried_out(self._asked(choice)))

    def lowered(self, choice: Selection) -> Iterator[Level]:
        """Compile a choice up to the text of its program, level by level."""
        for name, level in levels(self._asked(choice)):
            if name == "tilesize":
                check(name, level)
            yield level
            if name == "source":
                return

    def _asked(self, choice: Selection) -> Request:
        return replace(self.request, found=TunedChoice(choice, {}) if choice.changes else None)

    def price(self, choice: Selection) -> float:
        """No seconds: nothing is predicted of these choices."""
        return 0.0

    def draw(self, number: int, best: Selection, known: Collection[Selection]) -> Selection | None:
        """The choice of a trial: each change by itself first, and then at random beside those of the best."""
        for change in self.open:
            choice = Selection((), changes=(change,))
            if choice not in known:
                return choice
        for attempt in range(MOST_DRAWS if self.open else 0):
            rng = Random(f"{self.seed} {number} {attempt}")
            choice = self._stepped(self.default if rng.random() < AFRESH else best, rng)
            if choice not in known and choice != self.default:
                return choice
        return None

    def _stepped(self, choice: Selection, rng: Random) -> Selection:
        """A choice some changes away."""
        while True:
            name, value = rng.choice(self.open)
            given = dict(choice.changes)
            if name == "tile_sizes":
                sizes = (rng.choice(ROWS), rng.choice(ROW))
                given["tile_sizes"] = sizes[: rng.randint(1, 2)]  # tiles may have one dimension
            elif given.get(name) == value:
                del given[name]
            else:
                given[name] = value
            choice = Selection((), changes=tuple(sorted(given.items())))
            if rng.random() >= FURTHER:
                return choice


def _is_open(name: str, options: Options) -> bool:
    """Whether the user has left an option to the compiler; passes may always be left out."""
    return name == "skip" or bool(getattr(options, name) == getattr(DEFAULTS, name))
