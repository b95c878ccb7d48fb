"""The space of a search where groups are not chosen one by one: options, as a user could have given them.

Programs that take steps are such, and those whose groups can be computed in one way each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from random import Random

from polymat.checked import check
from polymat.decide.changes import carried_out, with_changes
from polymat.decide.chosen import UnfitError
from polymat.driver import levels
from polymat.graph.pipeline import Pipeline
from polymat.graph.selection import Change, Changes, Selection, TunedChoice
from polymat.graph.stepwise import Stepwise
from polymat.options import DEFAULTS, Options
from polymat.passes import PASSES, levels_of, position
from polymat.plan.library import FilterPlan
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.rewrite.stepways import may_have_bands
from polymat.search.choices import MOST_DRAWS, drawn_choice
from polymat.steps import Job, Level

STEPS = tuple(each.name for each in PASSES if each.of_steps)
CHANGES: Changes = (
    *(("skip", (name,)) for name in (*STEPS, "fusion", "inline", "parts")),
    *(("tile_sizes", sizes) for sizes in ((16, 512), (64, 256), (64,))),
    ("blas", "never"),
    *((name, False) for name in ("kernels", "steps", "unroll", "outwards", "rolling", "overlap", "vector")),
)
"""What is tried one by one, in this order, and then together."""
METHODS: Changes = tuple(("fir", method) for method in ("direct", "blocks", "whole"))
"""What is tried of programs with filters beside that."""
BANDS: Changes = tuple(("bands", steps) for steps in (4, 8, 16))
"""What is tried of programs whose steps may run in bands."""
ROWS = (4, 8, 16, 32, 64, 128)  # of further tiles
ROW = (64, 128, 256, 512, 1024, 4096)  # elements of such a row


class OptionSpace:
    """Choices for one program: the values of options that the user has left as they are.

    acting: the passes that do something to the default.  Others are left out beside these alone, which may
    have been what left them nothing to do.  changes: all that may be tried.
    """

    def __init__(
        self, request: Request, acting: Collection[str], seed: int = 0, *, changes: Changes = CHANGES
    ) -> None:
        self.request = replace(request, found=None)
        self.seed = seed
        self.default = Selection(())
        self.open = tuple(change for change in changes if _is_open(change, request.options))
        self.first = tuple(
            Selection((), changes=((name, value),))
            for name, value in self.open
            if name != "skip" or not _names(value).isdisjoint(acting)
        )

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
        for choice in self.first:
            if choice not in known:
                return choice
        for attempt in range(MOST_DRAWS if self.open else 0):
            rng = Random(f"{self.seed} {number} {attempt}")
            choice = drawn_choice(self.default, best, rng, self._step)
            if choice not in known and choice != self.default:
                return choice
        return None

    def _step(self, choice: Selection, rng: Random) -> Selection:
        """A choice with one change more or less."""
        name, value = rng.choice(self.open)
        given = dict(choice.changes)
        if name == "tile_sizes":
            sizes = (rng.choice(ROWS), rng.choice(ROW))
            given["tile_sizes"] = sizes[: rng.randint(1, 2)]  # tiles may have one dimension
        elif name == "skip":
            given["skip"] = tuple(sorted(_names(given.get("skip", ())) ^ _names(value)))
        elif given.get(name) == value:
            del given[name]
        else:
            given[name] = value
        return Selection((), changes=tuple(sorted(each for each in given.items() if each[1] != ())))


def decided(job: Job) -> tuple[tuple[str, ...], Schedule | Stepwise[Schedule]]:
    """The passes that do something to a program and may be left out, in order, and its plans."""
    acting, reached = list[str](), dict[str, Level]()
    before: Level | None = None
    for each, level in levels_of(job, PASSES[: position("codegen")]):
        if each.is_skippable and level is not before:
            acting.append(each.name)
        reached[each.name] = before = level
    plans = reached["tilesize"]
    assert isinstance(plans, Schedule | Stepwise)
    return tuple(acting), plans


def further_changes(job: Job, acting: Collection[str], level: Schedule | Stepwise[Schedule]) -> Changes:
    """Bands of steps, or other ways of filters, for a program that has any: in plans, or as transforms."""
    if isinstance(level, Stepwise):
        *_, (_, before) = levels_of(job, PASSES[: position("bands")])
        return BANDS if isinstance(before, Pipeline) and may_have_bands(before) else ()
    filters = "blocks" in acting or any(isinstance(plan, FilterPlan) for plan in level.plans)
    return METHODS if filters else ()


def _names(value: object) -> set[str]:
    """The passes that a value of `skip` names."""
    return {str(each) for each in value} if isinstance(value, tuple) else set()


def _is_open(change: Change, options: Options) -> bool:
    """Whether the user has left an option to the compiler; passes are, that are not left out anyway."""
    name, value = change
    if name == "skip":
        return _names(value).isdisjoint(options.skip)
    if getattr(options, name) != getattr(DEFAULTS, name):
        return False
    try:
        with_changes(options, (change,))
    except UnfitError:  # beside what the user has said it has no effect
        return False
    return True
