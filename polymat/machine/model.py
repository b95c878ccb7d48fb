"""The machine as a value: what every cost model is told about the processor."""

from __future__ import annotations

from dataclasses import field, replace

from polymat.dataclass import dataclass
from polymat.machine.calibrate import PIECE_BYTES, Calibration, Rate, Stream, VectorSeconds

MEMORY = 4
"""The number of main memory where a level is asked for; caches are 1, 2 and 3."""

LEAST_GAIN = 0.97  # of requests, below which they lose more than measurements differ
_APART = 0.7  # of as many times the peak of one thread, below which threads are taken to share cores
# Bytes read plus bytes written by a copy, as a share of the bytes that reading alone streams from the level:
# the write goes to a line that has to be fetched first, so that memory moves three bytes for two counted.
_COPY_SHARES = (1.0, 0.75, 0.7, 0.67)


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of data cache, as far as this process can count on it.

    bytes: of one core, or where `shared` of all cores together; a share of a larger cache has fewer sets.
    """

    level: int
    bytes: int
    ways: int
    line_bytes: int
    shared: bool

    @property
    def sets(self) -> int:
        """Sets of `ways` lines; addresses that are `sets * line_bytes` apart compete for one set."""
        return max(1, self.bytes // (self.ways * self.line_bytes))


@dataclass(frozen=True, slots=True)
class Machine:
    """A shared-memory processor; `bandwidth` and `peak_flops` answer from a calibration where there is one.

    microarchitecture: the row of `polymat.machine.known` that it was taken for.
    cores: physical cores this process may use.
    l1_bytes, l2_bytes: data cache of one core.
    l3_bytes: the part of the last-level cache that these cores can count on together; where there is none, it
    is l2_bytes.
    vector_bits, vector_registers, fma_units: of one core; an FMA unit takes one full vector a cycle.
    fma_latency: cycles until the result of an FMA can be used.
    hertz: clock under vector load.
    *_bandwidth: bytes a second that one core reads from that level.
    memory_bandwidth_total: bytes a second that all cores together read from memory.
    region_seconds, wake_seconds: to enter and leave a parallel region whose threads still wait for it, and
    one whose threads have gone to sleep meanwhile.
    share_seconds: to share work out to threads that wait for it, whose data changes cores; 0.0: not measured.
    calibration: what was measured; without it, all figures are estimates.
    registers: bytes of an element, rows and vectors of register blocks that were chosen for one program.
    """

    name: str
    cores: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    line_bytes: int = 64
    l1_ways: int = 8
    l2_ways: int = 8
    l3_ways: int = 16
    vector_bits: int = 256
    vector_registers: int = 16
    fma_units: int = 2
    fma_latency: int = 4
    hertz: float = 3.0e9
    l1_bandwidth: float = 1.9e11
    l2_bandwidth: float = 9.0e10
    l3_bandwidth: float = 4.0e10
    memory_bandwidth: float = 1.2e10
    memory_bandwidth_total: float = 2.4e10
    region_seconds: float = 2.0e-6
    wake_seconds: float = 4.0e-5
    share_seconds: float = 0.0
    microarchitecture: str = "generic"
    calibration: Calibration | None = field(default=None, repr=False)
    registers: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The levels there are, nearest first."""
        levels = [
            Cache(1, self.l1_bytes, self.l1_ways, self.line_bytes, shared=False),
            Cache(2, self.l2_bytes, self.l2_ways, self.line_bytes, shared=False),
        ]
        if self.l3_bytes > self.l2_bytes:
            levels.append(Cache(3, self.l3_bytes, self.l3_ways, self.line_bytes, shared=True))
        return tuple(levels)

    def capacity(self, level: int, threads: int = 1) -> int:
        """Bytes of a cache that each of `threads` threads can count on when all use it."""
        if level == 3:
            return self.l3_bytes // max(1, threads)
        return (self.l1_bytes, self.l2_bytes)[level - 1] // self._threads_per_core(threads)

    def lanes(self, element_bytes: int) -> int:
        """Elements in one vector register."""
        return max(1, self.vector_bits // (8 * element_bytes))

    def peak_flops(self, element_bytes: int, threads: int = 1) -> float:
        """Floating-point operations a second of `threads` threads when every FMA unit is busy."""
        one = 2.0 * self.fma_units * self.lanes(element_bytes) * self.hertz
        estimate = Rate(one, one * self.cores)
        if self.calibration is None:
            return estimate.at(threads, self.cores)
        measured = self.calibration.flops64 if element_bytes >= 8 else self.calibration.flops32
        return self._at(measured, estimate, threads)

    def bandwidth(self, level: int, threads: int = 1, stream: Stream = "read") -> float:
        """Bytes a second that `threads` threads together stream from a level: 1, 2, 3 or MEMORY.

        stream: "read" counts bytes read; "copy" bytes read plus bytes written, as many of each.
        """
        estimate = self._estimate(level, stream)
        if self.calibration is None:
            return estimate.at(threads, self.cores)
        return self._at(self.calibration.rates(stream)[level - 1], estimate, threads)

    def vector_seconds(self, element_bytes: int) -> VectorSeconds | None:
        """Seconds of what loops do beside multiply-adds, on such elements; None where nobody measured it."""
        measured = () if self.calibration is None else self.calibration.vectors
        return next((each for each in measured if each.element_bytes == element_bytes), None)

    def across_lines(self) -> float | None:
        """Bytes a second from the first level by vectors off the lines; None where nobody measured it."""
        measured = () if self.calibration is None else self.calibration.crossings
        width = self.vector_bits // 8
        return next((each.rate for each in measured if (each.vector_bytes, each.level) == (width, 1)), None)

    def reach(self, level: int) -> int:
        """Bytes that come from a cache at its rate: of the last level what others leave free was measured."""
        measured = 0.0 if self.calibration is None or level < 3 else self.calibration.reach_bytes
        return max(self.capacity(level), int(measured))

    def rows_bandwidth(self) -> float:
        """Bytes a second that one thread reads from memory along several rows; that of one if unknown."""
        measured = 0.0 if self.calibration is None else self.calibration.rows_rate
        return max(self.bandwidth(MEMORY), measured)

    def pieces_loss(self, piece: float) -> float | None:
        """The share that reading rows in pieces of `piece` bytes adds to the time of memory; None if unknown.

        Longer pieces begin less often.  Shorter ones lose no more, since those of several rows come together.
        """
        measured = 0.0 if self.calibration is None else self.calibration.pieces_rate
        if not measured:
            return None
        return max(0.0, self.bandwidth(MEMORY) / measured - 1.0) * min(1.0, PIECE_BYTES / piece)

    def asks_for_rows(self) -> bool:
        """Whether rolling tiles ask for the rows of the next one: unless they were measured to lose by it."""
        measured = 0.0 if self.calibration is None else self.calibration.requests_gain
        return not 0.0 < measured < LEAST_GAIN

    def pair_seconds(self) -> float:
        """Seconds more that storing a vector takes where two rows are stored side by side, beyond L1.

        Each is a stream of stores by itself, and of neither one line follows the other.  Where nobody
        measured it, as long as copying a vector in L2 takes: rows one by one lose less.
        """
        measured = 0.0 if self.calibration is None else self.calibration.pair_seconds
        return measured or 2.0 * self.vector_bits / 8 / self.bandwidth(2, stream="copy")

    def row_seconds(self) -> float:
        """Seconds that a row of a loop takes beside its vectors; 0.0 where nobody measured it."""
        return 0.0 if self.calibration is None else self.calibration.row_seconds

    def with_calibration(self, calibration: Calibration | None) -> Machine:
        """This machine with measured figures in place of the estimates; itself without any."""
        if calibration is None:
            return self
        units = calibration.flops64.one / (2.0 * self.lanes(8) * calibration.hertz)
        l1, l2, l3, memory = (rate.one for rate in calibration.read)
        measured = replace(
            self,
            hertz=calibration.hertz,
            fma_units=min(8, max(1, round(units))),
            fma_latency=max(1, round(calibration.fma_seconds * calibration.hertz)),
            l1_bandwidth=l1,
            l2_bandwidth=l2,
            l3_bandwidth=l3,
            memory_bandwidth=memory,
            # The measured rate of one thread, growing as the table says where fewer threads were measured.
            memory_bandwidth_total=max(memory, memory * self.memory_bandwidth_total / self.memory_bandwidth),
            calibration=calibration,
        )
        # A region of one thread was not worth measuring.
        if calibration.threads > 1:
            measured = replace(
                measured,
                region_seconds=calibration.region_seconds,
                wake_seconds=calibration.wake_seconds,
                share_seconds=calibration.share_seconds,
            )
        return replace(measured, memory_bandwidth_total=measured.bandwidth(MEMORY, self.cores))

    def of_a_thread(self, threads: int) -> Machine:
        """The machine as each of so many threads has it: with half of a core's caches where two share a core.

        Virtual machines show two threads of a core as two cores.  What all of them compute together tells it.
        A clock that falls as far looks the same: blocks are smaller than need be then, which costs little.
        """
        known = self.calibration
        if known is None or known.threads < 2 or threads < known.threads:
            return self
        if known.flops64.all >= _APART * known.threads * known.flops64.one:
            return self
        l1, l2 = self.l1_bytes // 2, self.l2_bytes // 2
        return replace(self, l1_bytes=l1, l2_bytes=l2, l3_bytes=max(l2, self.l3_bytes))

    def team(self, threads: int) -> int:
        """How many threads compute: so many, or one a core where that is 0."""
        return threads or self.cores

    def _estimate(self, level: int, stream: Stream) -> Rate:
        one = (self.l1_bandwidth, self.l2_bandwidth, self.l3_bandwidth, self.memory_bandwidth)[level - 1]
        every = one * self.cores
        if level == MEMORY:
            every = max(one, min(every, self.memory_bandwidth_total))
        share = 1.0 if stream == "read" else _COPY_SHARES[level - 1]
        return Rate(one * share, every * share)

    def _at(self, measured: Rate, estimate: Rate, threads: int) -> float:
        """A measured rate; beyond the threads that were measured it grows as the estimate does."""
        assert self.calibration is not None
        known = self.calibration.threads
        if threads <= known or self.cores <= known:
            return measured.at(threads, known)
        growth = estimate.at(threads, self.cores) / estimate.at(known, self.cores)
        return measured.at(known, known) * growth

    def _threads_per_core(self, threads: int) -> int:
        return max(1, -(-threads // self.cores))
