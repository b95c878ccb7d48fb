"""What of the benchmarks a user asks for: sections, programs, data sets, peers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from benchmarks.cases import Case
from benchmarks.harness import Peer
from benchmarks.peers.table import find_peer
from benchmarks.section import Section
from benchmarks.sections import SECTIONS

SUITE = (
    *("blas2", "products", "sizes", "layer", "contractions", "networks", "convolutions", "transforms"),
    *("fir", "dsp", "recursive", "stencils", "images", "recurrences", "channels", "functions", "rows"),
    *("factorisations", "data", "npbench"),
)
"""The sections that a user is shown: those that compare polymat with something else, smallest first."""
QUICK_SUITE = ("blas2", "products", "convolutions", "fir", "dsp", "stencils", "rows")
UNNAMED = frozenset(("sizes", "contractions", "networks"))
"""Sections whose cases have subscripts or sizes in the place of names."""
ALL, NONE = "all", "none"  # of the peers


class SelectionError(ValueError):
    """Nothing is called so; the text says what there is."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Sections, and of their cases those of some programs and data sets, beside some peers.

    whole: those that were asked for by their names.  programs: the first words of the names of cases of the
    others; all of them when empty.  dataset: "" for all.
    peers: names, ALL, or NONE.
    """

    sections: tuple[Section, ...]
    whole: tuple[Section, ...] = ()
    programs: frozenset[str] = frozenset()
    dataset: str = ""
    peers: tuple[str, ...] = (ALL,)
    quick: bool = False

    def has(self, section: Section, case: Case) -> bool:
        """Whether a case of a section belongs to it."""
        by_name = section in self.whole or not self.programs or program_of(case) in self.programs
        return by_name and (not self.dataset or case.group == self.dataset)

    def cases(self, section: Section) -> Iterator[Case]:
        """The cases of a section that belong to it; those of one data set whether they are quick or not."""
        cases = section.cases(self.quick and not self.dataset)
        return (case for case in cases if self.has(section, case))

    def crew(self, section: Section, threads: int) -> tuple[Peer, ...]:
        """The ways of calling polymat, and the peers that were asked for."""
        return tuple(
            peer
            for peer in section.peers(threads)
            if peer.name in section.rivals or peer.name in self.peers or ALL in self.peers
        )


def program_of(case: Case) -> str:
    """The first word of its name, "gemm" of "gemm LARGE"."""
    return case.name.partition(" ")[0].removesuffix(",")


def select(names: Sequence[str], *, dataset: str, peers: Sequence[str], quick: bool) -> Selection:
    """What was asked for; `SelectionError` names what there is where a name is none."""
    sections = [SECTIONS[name] for name in names if name in SECTIONS]
    named = tuple(sections)
    programs = frozenset(name for name in names if name not in SECTIONS)
    if programs:
        sections += [section for section in _having(programs) if section not in sections]
    if not names:
        sections = [SECTIONS[name] for name in (QUICK_SUITE if quick else SUITE)]
    chosen = Selection(tuple(sections), named, programs, dataset, _known_peers(sections, peers), quick)
    if dataset and not any(True for section in sections for _ in chosen.cases(section)):
        groups = dict.fromkeys(case.group for section in sections for case in section.cases(True))
        raise SelectionError(
            f"no case has the data set {dataset!r}; there are {', '.join(groups)} and others"
        )
    return chosen


def _having(programs: frozenset[str]) -> Iterator[Section]:
    """The sections of the suite that have one of the programs at the sizes of an orientation."""
    missing = dict.fromkeys(sorted(programs))
    known: list[str] = []
    for name in (each for each in SUITE if each not in UNNAMED):
        here = _programs(name)
        known += here
        if programs.intersection(here):
            yield SECTIONS[name]
            missing = dict.fromkeys(each for each in missing if each not in here)
    for each in missing:
        near = get_close_matches(each, [*SUITE, *known], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"sections are {', '.join(SUITE)}"
        raise SelectionError(f"nothing is called {each!r}: {hint}")


@cache
def _programs(section: str) -> tuple[str, ...]:
    """The programs of a section, at the sizes of an orientation where making arrays is what names them."""
    return SECTIONS[section].programs or tuple(dict.fromkeys(map(program_of, SECTIONS[section].cases(True))))


def _known_peers(sections: Sequence[Section], names: Sequence[str]) -> tuple[str, ...]:
    there = dict.fromkeys(peer for section in sections for peers in section.rivals.values() for peer in peers)
    for name in names:
        if name not in (ALL, NONE) and name not in there:
            raise SelectionError(f"no peer is called {name!r} here: {', '.join(there)}")
    return tuple(names)


def installed_here(sections: Sequence[Section]) -> tuple[str, ...]:
    """The peers that live in polymat's own environment: NumPy, SciPy, plain C."""
    names = dict.fromkeys(peer for section in sections for peers in section.rivals.values() for peer in peers)
    return tuple(name for name in names if not find_peer(name, 1).python)
