"""Figures of a machine that was measured twice: the better of each, and which of them disagree.

Whoever uses the processor for a minute is seen by no pass over the quantities that lies within that minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from polymat.machine.calibrate import (
    LEVELS,
    BlockRate,
    Calibration,
    Difference,
    LineCrossing,
    Rate,
    Stream,
    VectorSeconds,
)

DIFFERS = 1.2
"""Times as fast as in the other pass, from which on users are told: within a pass times agree to as much.

The better of both is kept in any case.  Threads that meet, and sleep as deeply as they like, differ more:
by `LOOSELY` as much, as samples of them may within a pass.
"""
LOOSELY = 3.0


def better_of(first: Calibration, second: Calibration) -> Calibration:
    """The better of every figure that two passes on as many threads found, since disturbance only adds.

    Ratios are of the pass whose own times were shorter.  0.0 and nothing stand for what is unknown.
    """
    if first.threads != second.threads:
        return max(first, second, key=lambda each: each.threads)
    nearer, farther = (second, first) if second.read[-1].one > first.read[-1].one else (first, second)
    return replace(
        first,
        compiler=second.compiler,
        date=second.date,
        read=_levels(first, second, "read"),
        copy=_levels(first, second, "copy"),
        flops32=_faster(first.flops32, second.flops32),
        flops64=_faster(first.flops64, second.flops64),
        hertz=max(first.hertz, second.hertz),
        fma_seconds=min(first.fma_seconds, second.fma_seconds),
        region_seconds=min(first.region_seconds, second.region_seconds),
        wake_seconds=min(first.wake_seconds, second.wake_seconds),
        blocks=_blocks(first.blocks, second.blocks),
        share_seconds=_shorter(first.share_seconds, second.share_seconds),
        vectors=_vectors(first.vectors, second.vectors),
        crossings=_crossings(first.crossings, second.crossings),
        row_seconds=_shorter(first.row_seconds, second.row_seconds),
        reach_bytes=max(first.reach_bytes, second.reach_bytes),
        rows_rate=max(first.rows_rate, second.rows_rate),
        pieces_rate=max(first.pieces_rate, second.pieces_rate),
        requests_gain=nearer.requests_gain or farther.requests_gain,
        pair_seconds=nearer.pair_seconds or farther.pair_seconds,
        passes=first.passes + second.passes,
        differing=tuple(_differing(first, second)),
    )


def _levels(first: Calibration, second: Calibration, stream: Stream) -> tuple[Rate, Rate, Rate, Rate]:
    l1, l2, l3, memory = map(_faster, first.rates(stream), second.rates(stream))
    return l1, l2, l3, memory


def _faster(first: Rate, second: Rate) -> Rate:
    return Rate(max(first.one, second.one), max(first.all, second.all))


def _shorter(first: float, second: float) -> float:
    return min(first, second) if first and second else first or second


def _blocks(first: tuple[BlockRate, ...], second: tuple[BlockRate, ...]) -> tuple[BlockRate, ...]:
    if len(first) != len(second):
        return first or second
    pairs = zip(first, second, strict=True)
    return tuple(replace(one, flops=max(one.flops, other.flops)) for one, other in pairs)


def _vectors(
    first: tuple[VectorSeconds, ...], second: tuple[VectorSeconds, ...]
) -> tuple[VectorSeconds, ...]:
    if len(first) != len(second):
        return first or second
    return tuple(
        VectorSeconds(
            one.element_bytes,
            min(one.division, other.division),
            min(one.shuffle, other.shuffle),
            min(one.picked, other.picked),
            min(one.gathered, other.gathered),
        )
        for one, other in zip(first, second, strict=True)
    )


def _crossings(first: tuple[LineCrossing, ...], second: tuple[LineCrossing, ...]) -> tuple[LineCrossing, ...]:
    if len(first) != len(second):
        return first or second
    pairs = zip(first, second, strict=True)
    return tuple(replace(one, rate=max(one.rate, other.rate)) for one, other in pairs)


def _differing(first: Calibration, second: Calibration) -> Iterator[Difference]:
    """The figures of which one pass found more than so many times what the other did, and how many."""
    for name, one, other, patience in _pairs(first, second):
        times = max(one, other) / min(one, other) if one and other else 1.0
        if times > DIFFERS * patience:
            yield Difference(name, float(f"{times:.3g}"))


def _pairs(first: Calibration, second: Calibration) -> Iterator[tuple[str, float, float, float]]:
    """Figures of both by name, and how many times as much as of others they may differ."""
    streams: tuple[Stream, Stream] = ("read", "copy")
    rates = [
        ("float32 arithmetic", first.flops32, second.flops32),
        ("float64 arithmetic", first.flops64, second.flops64),
        *(
            (f"{stream} {level}", one, other)
            for stream in streams
            for level, one, other in zip(LEVELS, first.rates(stream), second.rates(stream), strict=True)
        ),
    ]
    for name, one, other in rates:
        yield name, one.one, other.one, 1.0
        if first.threads > 1:
            yield f"{name} on {first.threads} threads", one.all, other.all, 1.0
    yield "clock", first.hertz, second.hertz, 1.0
    if len(first.blocks) == len(second.blocks):
        for size in sorted({each.element_bytes for each in first.blocks}):
            pairs = zip(first.blocks, second.blocks, strict=True)
            gains = [one.flops / other.flops for one, other in pairs if one.element_bytes == size]
            yield f"float{8 * size} register blocks", median(gains), 1.0, 1.0
    for fast, slow in zip(first.vectors, second.vectors, strict=False):
        yield f"float{8 * fast.element_bytes} division", fast.division, slow.division, 1.0
        yield f"float{8 * fast.element_bytes} shuffle", fast.shuffle, slow.shuffle, 1.0
    yield "region", first.region_seconds, second.region_seconds, LOOSELY
    yield "sleeping region", first.wake_seconds, second.wake_seconds, LOOSELY
    yield "sharing", first.share_seconds, second.share_seconds, LOOSELY
    yield "several rows", first.rows_rate, second.rows_rate, LOOSELY
