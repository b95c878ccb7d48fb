"""What was measured on a machine, and the file that keeps it between processes."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Literal

from polymat.dataclass import dataclass
from polymat.machine.checkedvalues import count, extent, number, rows, text
from polymat.machine.keptfile import read_text, write_text
from polymat.machine.producttimes import ProductTimes, as_lists, from_lists

_log = logging.getLogger("polymat.calibrate")
Stream = Literal["read", "copy"]
PIECE_BYTES = 1 << 11  # of a row that tiles cut, as `Calibration.pieces_rate` was measured with
LEVELS = ("L1", "L2", "L3", "memory")
_FORMAT = 1
_MOST_BYTES = 1 << 16
# Outside these bounds a figure was not measured but made up, or damaged.
_RATE_BOUNDS = (1e6, 1e18)
_SECONDS_BOUNDS = (1e-12, 10.0)
_HERTZ_BOUNDS = (1e7, 2e10)
_MOST_THREADS = 4096
# Fields that earlier versions did not measure.
_LATER = {
    *("blocks", "products", "share_seconds", "vectors", "crossings", "row_seconds", "reach_bytes"),
    *("rows_rate", "pieces_rate", "requests_gain", "pair_seconds", "passes", "differing"),
}
_MOST_PASSES, _MOST_TIMES = 1 << 10, 1e12
_MOST_GAIN = 1e3
_MOST_REACH = float(1 << 40)


@dataclass(frozen=True, slots=True)
class Rate:
    """Something a second, bytes or operations: done by one thread, and by all that were measured together."""

    one: float
    all: float

    def at(self, threads: int, measured: int) -> float:
        """The rate of `threads` threads, given that `all` is that of `measured`.

        It grows in proportion until it meets the rate of all.
        """
        if threads <= 1 or measured <= 1:
            return self.one
        return self.all if threads >= measured else min(threads * self.one, max(self.one, self.all))


@dataclass(frozen=True, slots=True)
class BlockRate:
    """Floating-point operations a second of one thread in register blocks of rows x vectors."""

    element_bytes: int
    rows: int
    vectors: int
    flops: float


@dataclass(frozen=True, slots=True)
class VectorSeconds:
    """Seconds of one thread for what loops do beside multiply-adds, on elements of so many bytes.

    division, shuffle: of a vector in registers.  picked, gathered: of an element of every few-th one, and of
    one whose place another one says, until it stands beside its neighbours.
    """

    element_bytes: int
    division: float
    shuffle: float
    picked: float
    gathered: float


@dataclass(frozen=True, slots=True)
class LineCrossing:
    """Bytes a second that one thread reads from a level by vectors of so many bytes, off the lines."""

    vector_bytes: int
    level: int
    rate: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of which one pass over a machine found so many times what another one did."""

    name: str
    times: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Figures measured on one machine.

    fingerprint: the processor it holds for; compiler, date: what and when.
    threads: how many "all" means in a `Rate`.
    read, copy: bytes a second by level, nearest first, memory last; a copy counts bytes read plus written.
    flops32, flops64: floating-point operations a second in float32 and float64, a multiply-add being two.
    hertz: clock of one busy core; fma_seconds: until the result of a multiply-add can be used.
    region_seconds, wake_seconds: to enter and leave a parallel region of all threads, when they have just
    left another one and when they sleep.
    blocks: the register blocks that were measured; none by versions that did not.
    products: what whole products by register blocks took, of each type and number of threads.
    share_seconds: to share work out to threads that wait for it, with data that changes cores; 0.0: unknown.
    vectors, crossings: what loops do beside multiply-adds; none by versions that did not measure it.
    row_seconds: of the ends of a row, beside its vectors; 0.0: unknown.
    reach_bytes: that come about as fast as from the last level, where others leave it free; 0.0: unknown.
    rows_rate: bytes a second that one thread reads from memory along several rows at a time; 0.0: unknown.
    pieces_rate: where it reads rows in pieces of 2 KiB, as tiles do that cut them; 0.0: unknown.
    requests_gain: times as fast as without, rolling tiles that ask for the next one's rows; 0.0: unknown.
    pair_seconds: that storing a vector takes longer where two rows are stored side by side, beyond the first
    level; 0.0: unknown.
    passes: how often all of it was measured, apart in time; each figure is the best of these.
    differing: the figures of which the passes disagree.
    """

    fingerprint: str
    compiler: str
    date: str
    threads: int
    read: tuple[Rate, Rate, Rate, Rate]
    copy: tuple[Rate, Rate, Rate, Rate]
    flops32: Rate
    flops64: Rate
    hertz: float
    fma_seconds: float
    region_seconds: float
    wake_seconds: float
    blocks: tuple[BlockRate, ...] = ()
    products: tuple[ProductTimes, ...] = ()
    share_seconds: float = 0.0
    vectors: tuple[VectorSeconds, ...] = ()
    crossings: tuple[LineCrossing, ...] = ()
    row_seconds: float = 0.0
    reach_bytes: float = 0.0
    rows_rate: float = 0.0
    pieces_rate: float = 0.0
    requests_gain: float = 0.0
    pair_seconds: float = 0.0
    passes: int = 1
    differing: tuple[Difference, ...] = ()

    def rates(self, stream: Stream) -> tuple[Rate, Rate, Rate, Rate]:
        """Bytes a second by level."""
        return self.read if stream == "read" else self.copy


def encode(calibration: Calibration) -> str:
    """The text of the file that keeps it."""
    fields = {
        "format": _FORMAT,
        "fingerprint": calibration.fingerprint,
        "compiler": calibration.compiler,
        "date": calibration.date,
        "threads": calibration.threads,
        "read": {level: _pair(rate) for level, rate in zip(LEVELS, calibration.read, strict=True)},
        "copy": {level: _pair(rate) for level, rate in zip(LEVELS, calibration.copy, strict=True)},
        "flops32": _pair(calibration.flops32),
        "flops64": _pair(calibration.flops64),
        "hertz": calibration.hertz,
        "fma_seconds": calibration.fma_seconds,
        "region_seconds": calibration.region_seconds,
        "wake_seconds": calibration.wake_seconds,
        "blocks": [[b.element_bytes, b.rows, b.vectors, b.flops] for b in calibration.blocks],
        "products": as_lists(calibration.products),
        "share_seconds": calibration.share_seconds,
        "vectors": [
            [v.element_bytes, v.division, v.shuffle, v.picked, v.gathered] for v in calibration.vectors
        ],
        "crossings": [[c.vector_bytes, c.level, c.rate] for c in calibration.crossings],
        "row_seconds": calibration.row_seconds,
        "reach_bytes": calibration.reach_bytes,
        "rows_rate": calibration.rows_rate,
        "pieces_rate": calibration.pieces_rate,
        "requests_gain": calibration.requests_gain,
        "pair_seconds": calibration.pair_seconds,
        "passes": calibration.passes,
        "differing": [[each.name, each.times] for each in calibration.differing],
    }
    return json.dumps(fields, indent=1, allow_nan=False) + "\n"


def decode(text: str) -> Calibration:
    """The calibration that `encode` wrote; a `ValueError` says what is wrong with any other text."""
    try:
        fields = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
        raise ValueError(f"not a calibration of format {_FORMAT}")
    names = {"format", *Calibration.__dataclass_fields__}
    if set(fields) | _LATER != names:
        raise ValueError(f"fields missing or unknown: {', '.join(sorted(names ^ set(fields)))}"[:200])
    return Calibration(
        fingerprint=_string(fields, "fingerprint"),
        compiler=_string(fields, "compiler"),
        date=_string(fields, "date"),
        threads=count(fields["threads"], _MOST_THREADS),
        read=_levels(fields["read"]),
        copy=_levels(fields["copy"]),
        flops32=_rate(fields["flops32"]),
        flops64=_rate(fields["flops64"]),
        hertz=number(fields["hertz"], _HERTZ_BOUNDS),
        fma_seconds=number(fields["fma_seconds"], _SECONDS_BOUNDS),
        region_seconds=number(fields["region_seconds"], _SECONDS_BOUNDS),
        wake_seconds=number(fields["wake_seconds"], _SECONDS_BOUNDS),
        blocks=_blocks(fields.get("blocks", [])),
        products=from_lists(fields.get("products", [])),
        share_seconds=number(fields.get("share_seconds", 0.0), (0.0, _SECONDS_BOUNDS[1])),
        vectors=tuple(map(_vector, rows(fields.get("vectors", []), 5))),
        crossings=tuple(map(_crossing, rows(fields.get("crossings", []), 3))),
        row_seconds=number(fields.get("row_seconds", 0.0), (0.0, _SECONDS_BOUNDS[1])),
        reach_bytes=number(fields.get("reach_bytes", 0.0), (0.0, _MOST_REACH)),
        rows_rate=number(fields.get("rows_rate", 0.0), (0.0, _RATE_BOUNDS[1])),
        pieces_rate=number(fields.get("pieces_rate", 0.0), (0.0, _RATE_BOUNDS[1])),
        requests_gain=number(fields.get("requests_gain", 0.0), (0.0, _MOST_GAIN)),
        pair_seconds=number(fields.get("pair_seconds", 0.0), (0.0, _SECONDS_BOUNDS[1])),
        passes=count(fields.get("passes", 1), _MOST_PASSES),
        differing=tuple(map(_difference, rows(fields.get("differing", []), 2))),
    )


def load(path: Path, fingerprint: str) -> Calibration | None:
    """The calibration kept in a file; None when there is none, it is damaged, or of another processor."""
    try:
        found = decode(read_text(path, most_bytes=_MOST_BYTES))
    except OSError as error:
        _log.debug("no calibration: %s", error)
        return None
    except ValueError as error:
        _log.warning("ignored %s: %s", path, error)
        return None
    if found.fingerprint != fingerprint:
        _log.info("ignored %s: it was measured on another processor", path)
        return None
    return found


def store(path: Path, calibration: Calibration) -> None:
    """Write the file in one step, readable for its owner; an `OSError` when that cannot be."""
    write_text(path, encode(calibration))


def _pair(rate: Rate) -> dict[str, float]:
    return {"one": rate.one, "all": rate.all}


def _levels(value: Any) -> tuple[Rate, Rate, Rate, Rate]:
    if not isinstance(value, dict) or set(value) != set(LEVELS):
        raise ValueError("bandwidths are not those of L1, L2, L3 and memory")
    l1, l2, l3, memory = (_rate(value[level]) for level in LEVELS)
    return l1, l2, l3, memory


def _rate(value: Any) -> Rate:
    if not isinstance(value, dict) or set(value) != {"one", "all"}:
        raise ValueError("a rate is not one of one thread and of all")
    return Rate(number(value["one"], _RATE_BOUNDS), number(value["all"], _RATE_BOUNDS))


def _blocks(value: Any) -> tuple[BlockRate, ...]:
    return tuple(_block(row) for row in rows(value, 4))


def _block(row: list[Any]) -> BlockRate:
    size, rows, vectors = map(extent, row[:3])
    return BlockRate(size, rows, vectors, number(row[3], _RATE_BOUNDS))


def _vector(row: list[Any]) -> VectorSeconds:
    return VectorSeconds(extent(row[0]), *(number(each, _SECONDS_BOUNDS) for each in row[1:]))


def _crossing(row: list[Any]) -> LineCrossing:
    return LineCrossing(extent(row[0]), extent(row[1]), number(row[2], _RATE_BOUNDS))


def _difference(row: list[Any]) -> Difference:
    return Difference(text(row[0]), number(row[1], (1.0, _MOST_TIMES)))


def _string(fields: dict[str, Any], name: str) -> str:
    try:
        return text(fields[name])
    except ValueError as error:
        raise ValueError(f"{name} is no text") from error
