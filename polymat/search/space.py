"""The space of a search: what choices there are, what each is predicted to take, and the next one."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice, zip_longest
from math import exp, inf
from random import Random

from polymat.checked import check
from polymat.decide.chosen import UnfitError, Ways, scratch_fits
from polymat.graph.group import Grouping, separate
from polymat.graph.selection import GroupChoice, Registers, Selection, TunedChoice
from polymat.model.confidence import worth_measuring
from polymat.options import Options
from polymat.passes import PASSES, levels_of, position
from polymat.plan.registerblocks import kernel_of
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import TilePlan
from polymat.request import Request
from polymat.search.choices import MOST_DRAWS, drawn_choice
from polymat.search.moves import (
    other_blocks,
    other_partition,
    other_registers,
    other_tiles,
    other_way,
    regrouped,
)
from polymat.search.schememoves import block_slowdown, by_scheme, moving_seconds, other_scheme
from polymat.steps import Job, Level
from polymat.tilesize.schemetiles import heeds

_FROM, _BEHIND = position("folds"), position("runtime")
DOUBT = 0.3  # of the logarithm of a prediction: how far it may be off, one time in three
DRAWN = 8  # choices of which the one that is predicted to be the best is tried
MOST_FIRST = 12  # of the ways next to the default that are tried first
MOST_RANKED = 5  # schemes that the ranker has first, of all contractions, which are tried behind these


class Space:
    """Choices for one program.

    grouping: the partition that the compiler chooses by itself, at the sizes of the request.
    guided: predictions say what is tried, and when; otherwise only what cannot be carried out.
    """

    def __init__(self, request: Request, grouping: Grouping, seed: int = 0, *, guided: bool = True) -> None:
        self.request, self.guided = request, guided
        self.machine = request.machine
        self.pipeline = grouping.pipeline
        self.seed = seed
        self._job = Job(replace(request, found=None))
        self._ways: dict[Registers, Ways] = {}
        self._prices: dict[tuple[Registers, GroupChoice], float] = {}
        self.default = self.ways(()).usual(grouping)
        options = request.options
        self.fuses = options.fuse and options.tile and "fusion" not in options.skip
        self.kinds = _kinds(options, fuses=self.fuses)
        self._given = self._heeded(options)
        self._first: tuple[Selection, ...] | None = None

    def ways(self, registers: Registers) -> Ways:
        """The ways of groups with some register blocks."""
        if registers not in self._ways:
            found = TunedChoice(Selection((), registers), {})
            self._ways[registers] = Job(replace(self.request, found=found)).ways(self.pipeline)
        return self._ways[registers]

    def _heeded(self, options: Options) -> dict[str, str]:
        """The schemes that the default does what they say of: so does all that is tried."""
        plans = [self.ways(()).plan(group) for group in self.default.groups]
        asked = [(plan, name) for plan in plans for name in plan.group.stages if name in options.schemes]
        given = {name: options.schemes[name] for _, name in asked}
        return {name: given[name] for plan, name in asked if heeds(plan, {name: given[name]})}

    def schedule(self, choice: Selection) -> Schedule:
        """The schedule that carries a choice out."""
        return self.ways(choice.registers).schedule(choice)

    def job(self, _: Selection) -> Job:
        """The compilation of a choice, the same one for all."""
        return self._job

    def lowered(self, choice: Selection) -> Iterator[Level]:
        """Compile a choice up to the text of its program, level by level behind its schedule."""
        schedule = self.schedule(choice)
        check("tilesize", schedule)
        for _, level in levels_of(self._job, PASSES[_FROM:_BEHIND], schedule):
            yield level

    def price(self, choice: Selection) -> float:
        """Predicted seconds; infinite for what cannot be carried out."""
        return sum(self._price(choice.registers, group) for group in choice.groups)

    def _price(self, registers: Registers, group: GroupChoice) -> float:
        key = registers, group
        if key not in self._prices:
            self._prices[key] = self._priced(self.ways(registers), group)
        return self._prices[key]

    def _priced(self, ways: Ways, group: GroupChoice) -> float:
        try:
            plan = ways.plan(group)
        except UnfitError:
            return inf
        if not heeds(plan, self._given):
            return inf
        if isinstance(plan, SchemePlan) and group.scheme:
            computing = ways.decider.seconds(plan) * block_slowdown(plan, self.machine)
            return max(computing, moving_seconds(plan, ways.decider))
        fits = not isinstance(plan, TilePlan) or scratch_fits(plan, ways.decider)
        return ways.decider.seconds(plan) if fits else inf

    def draw(self, number: int, best: Selection, known: Collection[Selection]) -> Selection | None:
        """The choice of a trial: first those next to the default, by prediction, and then at random.

        best: so far, from which steps are taken.  known: what was tried.  None where nothing new is found.
        """
        for choice in self.first if self.guided else ():
            if choice not in known:
                return choice
        each = DRAWN if self.guided else 1
        for attempt in range(MOST_DRAWS * DRAWN // each):
            rng = Random(f"{self.seed} {number} {attempt}")
            drawn: dict[Selection, float] = {}
            for _ in range(each):
                choice = drawn_choice(self.default, best, rng, self._step)
                seconds = self.price(choice)
                if choice not in known and choice != self.default and seconds <= self._limit(choice):
                    drawn[choice] = seconds * exp(rng.gauss(0.0, DOUBT))
            if drawn:
                return min(drawn, key=drawn.__getitem__)
        return None

    @property
    def first(self) -> tuple[Selection, ...]:
        """The choices next to the default, cheapest first, and then what the ranker has first.

        One group in another way, or in the loops of a scheme, or nothing fused.
        """
        if self._first is None:
            priced = {choice: self.price(choice) for choice in self._next_to_default()}
            near = [choice for choice, seconds in priced.items() if seconds <= self._limit(choice)]
            near = sorted(near, key=lambda choice: priced[choice])[:MOST_FIRST]
            ranked = (choice for choice in self._ranked() if self.price(choice) < inf)
            self._first = tuple(dict.fromkeys((*near, *islice(ranked, MOST_RANKED))))
        return self._first

    def _ranked(self) -> Iterator[Selection]:
        """What the ranker has first, of each contraction by turns, whatever that is predicted to take."""
        if "schemes" not in self.kinds:
            return
        groups = [(k, group.stages) for k, group in enumerate(self.default.groups)]
        ranked = [[(k, stages, scheme) for scheme in self.ways(()).ranked(stages)] for k, stages in groups]
        for k, stages, scheme in (each for turn in zip_longest(*ranked) for each in turn if each is not None):
            yield _with(self.default, k, by_scheme(stages, scheme)) or self.default

    def _next_to_default(self) -> Iterator[Selection]:
        ways, groups = self.ways(()), self.default.groups
        for k, group in enumerate(groups):
            for other in ways.listed(group.stages)[1:]:
                yield replace(self.default, groups=(*groups[:k], other, *groups[k + 1 :]))
            modelled = ways.modelled(group.stages) if "schemes" in self.kinds else None
            if modelled is not None:
                yield _with(self.default, k, by_scheme(group.stages, modelled.scheme)) or self.default
        if self.fuses:
            alone = [group.stages for group in separate(self.pipeline).groups]
            apart = regrouped(ways, self.default, alone)
            if apart is not None and apart != self.default:
                yield apart

    def _limit(self, choice: Selection) -> float:
        """The prediction beyond which a choice is not tried."""
        if not self.guided:
            return sys.float_info.max
        same = self.called(choice) == self.called(self.default)
        return worth_measuring(same_calls=same) * self.price(self.default)

    def called(self, choice: Selection) -> frozenset[str]:
        """The stages that libraries compute."""
        ways = self.ways(choice.registers)
        plans = [ways.plan(group) for group in choice.groups]
        return frozenset(stage for plan in plans if plan.routines for stage in plan.group.stages)

    def _step(self, choice: Selection, rng: Random) -> Selection:
        """A choice one step away, in a group that takes long more often than in others, if there is one."""
        ways, machine = self.ways(choice.registers), self.machine
        prices = [self._price(choice.registers, group) for group in choice.groups]
        weights = prices if self.guided else [1.0] * len(prices)
        number = rng.choices(range(len(weights)), [weight + 1e-9 for weight in weights])[0]
        group = choice.groups[number]
        kinds = [*self.kinds]
        rng.shuffle(kinds)
        for kind in kinds:
            match kind:
                case "registers":
                    found = other_registers(ways, machine, choice, rng)
                case "partition":
                    found = other_partition(ways, choice, rng)
                case "way":
                    found = _with(choice, number, other_way(ways, group, rng))
                case "schemes":
                    found = _with(choice, number, other_scheme(ways, group, rng))
                    found = None if found is None else self._without_idle_blocks(found)
                case "tiles":
                    found = _with(choice, number, other_tiles(ways, machine, group, rng))
                case _:
                    found = _with(choice, number, other_blocks(ways, machine, group, rng))
            if found is not None and self.price(found) < inf:
                return found
        return choice

    def _without_idle_blocks(self, choice: Selection) -> Selection:
        """The choice without register blocks, where schemes have left no product that takes them."""
        ways = self.ways(choice.registers)
        takes = any(kernel_of(ways.plan(group)) is not None for group in choice.groups)
        return choice if takes else replace(choice, registers=())


def _with(choice: Selection, number: int, group: GroupChoice | None) -> Selection | None:
    """The choice with another group in a place; None without one."""
    if group is None:
        return None
    return replace(choice, groups=(*choice.groups[:number], group, *choice.groups[number + 1 :]))


def _kinds(options: Options, *, fuses: bool) -> tuple[str, ...]:
    """The kinds of steps that leave what the user has decided as it is."""
    tiles = () if options.tile_sizes else ("tiles",)
    blocks = ("blocks", "registers") if options.blocks == "shares" else ()
    loops = options.vector and options.unroll and options.fft != "always" and options.fir == "auto"
    schemes = ("schemes",) if blocks and loops else ()
    return ("way", *tiles, *blocks, *schemes, *(("partition",) if fuses else ()))
