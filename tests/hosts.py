"""Other machines and libraries to compile for, and the type of the fixture `compile_for`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # this is imported before the cache of the tests is set up
    from polymat.idiom.librarymodel import Kind, Libraries, LibraryModel
    from polymat.machine.calibrate import Stream
    from polymat.machine.model import Machine


class CompileFor(Protocol):
    """Compile for another machine, or with other libraries, from now to the end of the test."""

    def __call__(self, machine: Machine | None = None, libraries: Libraries | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class StatedLibraries:
    """Libraries that are described and not looked for.

    models: what was measured of them.  lacking: the kinds of which there is no library.
    """

    models: Mapping[Kind, LibraryModel] = field(default_factory=dict)
    lacking: frozenset[Kind] = frozenset()

    def has(self, kind: Kind, _routines: Collection[str]) -> bool:
        """Whether there is a library of that kind: it has every routine."""
        return kind not in self.lacking

    def model(self, kind: Kind) -> LibraryModel | None:
        """What is said of it."""
        return None if kind in self.lacking else self.models.get(kind)


@cache
def as_stated(machine: Machine) -> Machine:
    """A machine on which all that its description says was measured; itself where something else was."""
    from polymat.machine.calibrate import Calibration, Rate

    if machine.calibration is not None:
        return machine
    cores, levels = machine.cores, range(1, 5)

    def rates(stream: Stream) -> tuple[Rate, Rate, Rate, Rate]:
        one, two, three, memory = (
            Rate(machine.bandwidth(level, 1, stream), machine.bandwidth(level, cores, stream))
            for level in levels
        )
        return one, two, three, memory

    flops = {size: Rate(machine.peak_flops(size), machine.peak_flops(size, cores)) for size in (4, 8)}
    measured = Calibration(
        fingerprint="stated",
        compiler="",
        date="",
        threads=cores,
        read=rates("read"),
        copy=rates("copy"),
        flops32=flops[4],
        flops64=flops[8],
        hertz=machine.hertz,
        fma_seconds=machine.fma_latency / machine.hertz,
        region_seconds=machine.region_seconds,
        wake_seconds=machine.wake_seconds,
    )
    return machine.with_calibration(measured)


@contextmanager
def compiling_for(
    machine: Machine | None = None, libraries: Libraries | None = None, *, measured: bool = True
) -> Iterator[None]:
    """Compile for another machine, or with other libraries, inside a `with` block of this thread.

    The code is run here all the same: the machine says what is quick, the compiler's flags what there is.
    measured: whether what is said of the machine counts as measured.
    """
    from polymat.runtime.host import HOST  # imported after the cache of the tests is set up

    now = HOST.get()
    machine = as_stated(machine) if machine is not None and measured else machine
    chosen = replace(now, machine=machine or now.machine, libraries=libraries or now.libraries)
    token = HOST.set(chosen)
    try:
        yield
    finally:
        HOST.reset(token)
