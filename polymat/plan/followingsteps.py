"""How many steps follow each other over the rows of their arrays, on how many threads: written down once.

Steps are taken in rounds of some steps, each round in one pass over the arrays, block by block: some rows,
and of arrays of three dimensions some lines of them.  Threads take rounds by turns, each as far behind the
round before as its last step has to be.  Of doubles, in Python and in generated code.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.skewed import SkewedSteps
from polymat.product.formula import Constant, Number, Predicate, Values
from polymat.product.formulanames import LetCondition, LetNumber, Name
from polymat.product.numbers import larger, quotient, root, smaller, where, whole

ROUNDS = 2  # of a thread at least: it waits for the others a quarter of its time at most, and mostly less
MOST_TEAM = 64  # threads that tell each other how far they are
ENOUGH = 16  # steps of a round, for all that: each round moves the arrays from one thread to the next

row = Name("row")  # bytes of all arrays at one row
line = Name("line")  # and at one line of it, where the second dimension is in parts too
rows, lines = Name("rows"), Name("lines")  # how many there are
count = Name("count")  # steps that are to be taken
work = Name("work")  # operations of one
threads = Name("most_threads")  # that there are
team = Name("team")  # that take part

# How far each step is behind the one before, and a stage behind the front of its step, along both dimensions.
slope, tail = Name("slope"), Name("tail")
slope_aside, tail_aside = Name("slope_aside"), Name("tail_aside")

# Of the machine (`polymat.graph.skewed.SkewedSteps`).
unit, piece, room = Name("unit"), Name("piece"), Name("room")
least, fewest, most = Name("least"), Name("fewest"), Name("most")
meeting = Name("meeting")

MACHINE = (unit, piece, room, least, fewest, most, meeting)
EXTENTS = ((rows, row), (lines, line))
SKEWS = ((slope, tail), (slope_aside, tail_aside))

behind = LetNumber("behind", larger(slope, 1))
aside = LetNumber("aside", larger(slope_aside, 1))
row_bytes, line_bytes = LetNumber("row_bytes", larger(row, 1)), LetNumber("line_bytes", larger(line, 1))
at_once = LetNumber("at_once", larger(whole(piece, row_bytes * unit), 1) * unit)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Rounds of some threads.

    steps: of one.  width: lines of a block.  fronts, sides: blocks along the rows and along the lines.
    rounds: how many there are; where there are several threads, as many for each of them.
    """

    steps: Number
    width: Number
    fronts: Number
    sides: Number
    rounds: Number


@dataclass(frozen=True, slots=True, eq=False)
class Following:
    """The decisions about some steps.

    follow: whether steps follow each other.  crew: the threads that can be kept at work.  worth: what all
    steps are worth, less what it costs that threads meet.  taken: the rounds of the threads that take part.
    """

    follow: Predicate
    crew: Number
    worth: Number
    taken: Round


def _following(both: bool) -> Following:
    """The decisions where one dimension is in parts, or both of the first two are."""
    far, lag = (lines, aside) if both else (rows, behind)
    held = root(room / (behind * aside * line_bytes)) if both else (room / row_bytes - at_once) / behind
    room_for = LetNumber("room_for", smaller(most, LetNumber("held", whole(held, 1))))
    most_crew = LetNumber("most_crew", smaller(threads, MOST_TEAM))
    apart = LetNumber("crew_apart", smaller(most_crew, whole(far, fewest * lag)))
    crew = LetNumber("crew", larger(apart, 1))
    crewed = _round(both, crew, room_for, "crewed")
    meetings = meeting * crewed.fronts * crewed.sides * crewed.rounds / larger(crew - 1, 1)
    follow = (row * rows > least) & (room_for >= fewest) & (count > 1)
    return Following(
        LetCondition("follow", follow),
        crew,
        LetNumber("worth", larger(work * count - meetings, 0)),
        _round(both, team, room_for, "taken"),
    )


def _round(both: bool, members: Number, room_for: Number, tag: str) -> Round:
    """The rounds of so many threads, of as many steps as there is room for, but all of them of about as many.

    All threads together are not further behind the first one than there are rows.
    """
    far, lag = (lines, aside) if both else (rows, behind)
    several = LetNumber(f"{tag}_several", larger(whole(count, ROUNDS * members), ENOUGH))
    apart = LetNumber(f"{tag}_apart", smaller(several, whole(far, members * lag)))
    fit = LetNumber(f"{tag}_fit", larger(smaller(room_for, where(members > 1, apart, most)), 1))
    rounds = LetNumber(f"{tag}_rounds", larger(quotient(count, fit * members), 1) * members)
    steps = LetNumber(f"{tag}_steps", larger(quotient(count, rounds), 1))
    width: Number = Constant(1)
    sides: Number = Constant(1)
    if both:
        held = whole(room, line_bytes * (behind * steps + at_once))
        most_lines = LetNumber(f"{tag}_lines", where(members > 1, whole(lines, members), lines))
        wide = LetNumber(f"{tag}_wide", smaller(most_lines, held))
        width = LetNumber(f"{tag}_width", larger(larger(wide, aside * steps), 1))
        sides = LetNumber(f"{tag}_sides", _blocks(lines, slope_aside, tail_aside, steps, width))
    fronts = LetNumber(f"{tag}_fronts", _blocks(rows, slope, tail, steps, at_once))
    return Round(steps, width, fronts, sides, LetNumber(f"{tag}_taken", quotient(count, steps)))


def _blocks(far: Number, slope: Number, tail: Number, steps: Number, size: Number) -> Number:
    """Blocks of a round: its last step is done with the last index after all others."""
    return larger(quotient(far + slope * (steps - 1) + tail, size), 1)


ALONG_ROWS, ALONG_BOTH = _following(False), _following(True)


def following(skewed: SkewedSteps) -> Following:
    """The decisions about steps in such an order."""
    return ALONG_ROWS if len(skewed.order.along) == 1 else ALONG_BOTH


def known(skewed: SkewedSteps) -> Values:
    """Values that are known of some steps whatever the sizes, by the names that decisions have for it."""
    values = {each.name: float(getattr(skewed, each.name)) for each in MACHINE}
    for along, (steps, stages) in zip(skewed.order.along, SKEWS, strict=False):
        values |= {steps.name: float(along.step), stages.name: float(along.longest)}
    return values


def asked(skewed: SkewedSteps, sizes: Mapping[str, int], steps: int, team: int = 1) -> Values:
    """The values that decisions about so many steps are asked with, at some sizes and for some threads."""
    values = known(skewed) | {count.name: float(steps), threads.name: float(team)}
    for level, ((lows, highs), (extent, size)) in enumerate(zip(skewed.spans, EXTENTS, strict=False)):
        first, last = min(form.evaluate(sizes) for form in lows), max(form.evaluate(sizes) for form in highs)
        values[extent.name] = float(last + 1 - first)
        values[size.name] = sum(
            each * float(prod(max(form.evaluate(sizes), 0) for form in extents[level + 1 :]))
            for each, extents in skewed.arrays
        )
    return values
