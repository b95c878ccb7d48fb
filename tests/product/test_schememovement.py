"""The data movement of schemes, against a simulated cache that their loops and copies run through."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import pytest

import polymat as pm
from polymat import Double, Int, Matrix, Parameter
from polymat.graph.build import build
from polymat.machine.known import HASWELL
from polymat.model.describe import stage_nest
from polymat.model.footprint import bytes_touched
from polymat.model.loopnest import LoopNest
from polymat.model.volumes import volumes
from polymat.product.contraction import Contraction
from polymat.product.matching import contraction_of
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop
from polymat.product.schemefit import fitted
from polymat.product.schememovement import loops_and_copies, scheme_movement
from polymat.product.schemetext import read_scheme
from tests.hosts import compiling_for
from tests.model.caches import misses

M, N, K = (Parameter(Int, name) for name in "MNK")
SIZES = {"M": 24, "N": 16, "K": 20}
DIMS = {"A": "ik", "B": "kj"}
ROOM = 1.5  # least-recently-used replacement keeps a tile only where something is left for the next one


def product() -> tuple[Contraction, LoopNest]:
    C = (Matrix(Double, "A", [M, K]) @ Matrix(Double, "B", [K, N])).named("C")
    pipeline = build([C])
    found = contraction_of(pipeline.stages[-1], pipeline.context, SIZES)
    assert found is not None
    return found, stage_nest(pipeline.stages[-1], SIZES)


def read(text: str) -> tuple[Atom, ...]:
    scheme, (found, _) = read_scheme(text), product()
    assert isinstance(scheme, Scheme)
    atoms = fitted(scheme, found, 4)
    assert isinstance(atoms, tuple)
    return atoms


def run(
    atoms: Sequence[Atom], left: Mapping[str, range], copied: frozenset[str]
) -> Iterator[tuple[str, Hashable]]:
    """The accesses of loops and copies, one after the other; a copy lies in the same place every time."""
    if not atoms:
        at = {dim: span[0] for dim, span in left.items()}
        for array, dims in {"C": "ij", **DIMS}.items():
            yield _element(array, dims, at, copied)
        return
    first, *rest = atoms
    if isinstance(first, Pack):
        dims = DIMS[first.array]
        for x in left[dims[0]]:
            for y in left[dims[1]]:
                at = {dims[0]: x, dims[1]: y}
                yield _element(first.array, dims, at, copied)
                yield _element(first.array, dims, at, frozenset({first.array}))
        yield from run(rest, left, copied | {first.array})
        return
    further = next((a.size for a in rest if not isinstance(a, Pack) and a.dim == first.dim and a.size), 1)
    step = further if first.in_block or not first.size else first.size
    span = left[first.dim]
    for begin in range(span.start, span.stop, step):
        yield from run(rest, {**left, first.dim: range(begin, min(begin + step, span.stop))}, copied)


PLACES = {"A": {"i": 12, "k": 10}, "B": {"k": 10, "j": 16}}


def _element(array: str, dims: str, at: Mapping[str, int], copied: frozenset[str]) -> tuple[str, Hashable]:
    if array not in copied:
        return array, tuple(at[dim] for dim in dims)
    return f"{array} packed", tuple(at[dim] % PLACES[array][dim] for dim in dims)


SCHEMES = [
    "[R(j), T(k, 10), T(i, 12), R(k), R(i), U(i, 2)]",
    "[T(k, 10), R(j), T(i, 12), R(i), R(k), U(j, 4), V(j, 4)]",
    "[T(k, 10), pack(B), T(i, 12), pack(A), R(j), R(i), R(k), U(i, 6), U(j, 4), V(j, 4)]",
]


@pytest.mark.covering
@pytest.mark.parametrize("text", SCHEMES)
@pytest.mark.parametrize("inside", [3, 4, 5])
def test_volumes_of_schemes_are_the_misses_of_a_simulated_cache(text: str, inside: int) -> None:
    atoms, (found, nest) = read(text), product()
    loops, copies = loops_and_copies(found, atoms, nest.extents)
    tile = dict.fromkeys(nest.names, 1.0) | {loop.dim: loop.extent for loop in loops[: inside + 1]}
    capacity = ROOM * sum(bytes_touched(group, tile) for group in nest.classes)
    whole = {dim: range(size) for dim, size in nest.extents.items()}
    counted = misses(run(atoms, whole, frozenset()), int(capacity / 8))
    moved = {array: volume / 8 for array, volume in volumes(nest, loops, capacity, copies=copies).items()}
    assert {*moved} == {*counted}
    for array, volume in moved.items():
        # Of a copy that the next one overwrites a part may still be there.
        if array.endswith("packed"):
            assert 0.9 * counted[array] <= volume <= 2.0 * counted[array], array
        else:
            assert volume == pytest.approx(counted[array], rel=0.1), array


def test_threads_share_a_dimension_and_move_their_own_parts() -> None:
    found, nest = product()
    alone, shared = read("[R(i), R(j), R(k)]"), read("[Par(i), R(i), R(j), R(k)]")
    assert isinstance(shared[0], SchemeLoop)
    one = scheme_movement(nest, found, alone, HASWELL)
    two = scheme_movement(nest, found, shared, HASWELL, threads=2)
    # Each of both reads all of B, and half of A and C; level by level that is more than one thread reads.
    memory, before = dict(two.traffic[-1].volumes), dict(one.traffic[-1].volumes)
    assert memory["B"] == 2 * before["B"]
    assert memory["A"] == before["A"]
    assert memory["C"] == before["C"]
    assert two.compute_seconds == pytest.approx(one.compute_seconds / 2)


def test_a_report_says_what_moves_out_of_which_level() -> None:
    C = (Matrix(Double, "A", [M, K]) @ Matrix(Double, "B", [K, N])).named("C")
    scheme = "[T(k, 256), pack(B), T(i, 96), pack(A), R(j), R(i), R(k), U(i, 6), U(j, 8), V(j, 4)]"
    sizes = {M: 960, N: 960, K: 960}
    options = pm.Options(scheme={"C": scheme}, threads=1)
    with compiling_for(HASWELL):
        compiled = pm.compile(C, name="multiply", sizes=sizes, options=options)
    moved = compiled.explain().groups[0].movement
    assert moved is not None
    assert [*moved.bytes] == [*moved.level_seconds]
    assert moved.bytes["memory"] >= 3 * 8 * 960**2
    slowest = max({**moved.level_seconds, "compute": moved.compute_seconds}.items(), key=lambda each: each[1])
    assert moved.bottleneck == slowest[0]
    assert f"limited by {moved.bottleneck}" in str(moved)
