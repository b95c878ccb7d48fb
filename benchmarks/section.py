"""A section of the benchmarks: cases, and the peers that polymat is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.cases import Case
from benchmarks.harness import ANSWER_SECONDS, Peer
from benchmarks.peers.table import ONE_THREAD, find_peers, polymat_peer

SUBJECTS = {
    "polymat": "pipelines:prepare",
    "polymat, out=": "pipelines:prepare_out",
    "polymat from C": "pipelines:prepare_from_c",
}
"""Ways of calling polymat: as NumPy is called, into arrays that are there, from C."""


@dataclass(frozen=True, slots=True)
class Section:
    """Cases, and for every way of calling polymat the peers that are called alike.

    cases: given whether a quick orientation is enough.
    rivals: the peers, by the way of calling polymat they are compared with; see SUBJECTS.
    goals: what the section is to show, in words, for the reader of the table.
    programs: the first words of the names of cases, where these take long to make.
    told: peers whose notes are a column of the table.
    patience: the seconds in which a peer, not polymat itself, has to prepare a case and to call it once.
    """

    name: str
    title: str
    cases: Callable[[bool], Iterator[Case]]
    rivals: Mapping[str, tuple[str, ...]]
    goals: tuple[str, ...] = ()
    threads: tuple[int, ...] = (1, 2)
    environment: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    patience: float = ANSWER_SECONDS

    def peers(self, threads: int) -> tuple[Peer, ...]:
        """All that are measured, polymat first."""
        subjects = tuple(polymat_peer(threads, name, SUBJECTS[name]) for name in self.rivals)
        names = [name for rivals in self.rivals.values() for name in rivals]
        if threads == 1:
            names = [name for name in names if not name.endswith(ONE_THREAD)]
        return subjects + find_peers(names, threads)
