"""Distinct elements that a tile accesses, as a number or as a polynomial in the tile sizes.

The rules extend Table 4.3 of the PolyMage matrix thesis (section 4.3): a[i] and a[αi] have τ_i elements,
a[i ± j] τ_i + τ_j, a[i][j] τ_i·τ_j.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import gcd, prod
from typing import TypeAlias

from polymat.memo import remembered
from polymat.model.loopnest import LoopNest
from polymat.model.polynomial import Number, Polynomial
from polymat.model.reference import Slopes
from polymat.model.uniform import Component, UniformClass, components

Volumes: TypeAlias = tuple[tuple[UniformClass, Polynomial], ...]


def distinct(
    references: UniformClass, sizes: Mapping[str, Number], extents: Mapping[str, float], *, exact: bool = True
) -> Number:
    """Distinct elements of a class in a tile.

    sizes: of the tile, numbers or polynomials.  extents: numbers that decide between forms that hold for
    small and for large tiles.  `exact=False` is the thesis's count: without the constants of a sum of tile
    sizes and of neighbouring references.  The result is exact for references whose indices are independent of
    each other; otherwise it may be too large, never too small but for the constants.
    """
    return _distinct(references.slopes, references.offsets, sizes, extents, exact)


def _distinct(
    rows: tuple[Slopes, ...],
    offsets: tuple[tuple[float, ...], ...],
    sizes: Mapping[str, Number],
    extents: Mapping[str, float],
    exact: bool,
) -> Number:
    total: Number = 1
    separate: Number = 1
    for position, row in enumerate(rows):
        if not row and exact:
            total = total * len({vector[position] for vector in offsets})
    for component in components(rows):
        alone, joint = _component(rows, offsets, component, sizes, extents, exact)
        separate, total = separate * alone, total * joint
    if not exact:
        return separate
    count = len(offsets)
    if count > 1 and _value(separate, extents) * count < _value(total, extents):
        return separate * count
    return total


def _component(
    rows: tuple[Slopes, ...],
    offsets: tuple[tuple[float, ...], ...],
    component: Component,
    sizes: Mapping[str, Number],
    extents: Mapping[str, float],
    exact: bool,
) -> tuple[Number, Number]:
    """Elements of one reference, and of all of the class, in some of the indices."""
    product_of_sizes: Number = 1
    for dim in component.dims:
        product_of_sizes = product_of_sizes * sizes[dim]
    every_point = product_of_sizes * len({tuple(o[r] for r in component.rows) for o in offsets})
    if len(component.rows) > 1 and component.injective:
        return product_of_sizes, every_point
    alone: Number = 1
    joint: Number = 1
    for position in component.rows:
        count, step = _row(rows[position], sizes, extents, exact)
        alone = alone * count
        joint = joint * _widened(count, step, sorted({o[position] for o in offsets}))
    if len(component.rows) > 1 and exact:
        return _smaller(product_of_sizes, alone, extents), _smaller(every_point, joint, extents)
    return alone, joint


def _smaller(one: Number, other: Number, extents: Mapping[str, float]) -> Number:
    return one if _value(one, extents) < _value(other, extents) else other


def _row(
    row: Slopes, sizes: Mapping[str, Number], extents: Mapping[str, float], exact: bool
) -> tuple[Number, float]:
    """Distinct values of one index, and the step between neighbouring ones.

    Smaller slopes first: a slope beyond the reach of the smaller ones is a digit of its own and multiplies
    the count (a flattened index N·i + j), others overlap and lengthen the range (i + j).  The step is 0 where
    the values have gaps.
    """
    count: Number = 1
    span: Number = 0
    reach = step = 0.0
    gaps = False
    one = 1 if exact else 0
    for dim, factor in sorted(((d, abs(f)) for d, f in row), key=lambda pair: pair[1]):
        size, extent = sizes[dim], extents[dim]
        last = step
        step = _common(step, factor)
        span = span + (size - one) * _whole(factor)
        if last == 0 and factor >= 1:
            count = size
        elif last and factor > reach:
            count, gaps = count * size, True
        else:
            longer, crossed = span / step + one, count * size
            if not exact or _smaller(longer, crossed, extents) is longer:
                count, gaps = longer, False
            else:
                count = crossed
        reach += factor * (extent - 1)
    return count, 0 if gaps else step


def _common(step: float, factor: float) -> float:
    if step == 0:
        return max(1.0, factor)
    if step == int(step) and factor == int(factor):
        return float(gcd(int(step), int(factor)))
    return 1.0


def _whole(factor: float) -> float:
    return int(factor) if factor == int(factor) else factor


def _widened(count: Number, step: float, offsets: list[float]) -> Number:
    """Values of an index for several constants: ranges with the same remainder grow together."""
    if not step:
        return count * len(offsets)
    classes: dict[float, list[float]] = {}
    for value in offsets:
        classes.setdefault(value % step, []).append(value)
    total: Number = 0
    for members in classes.values():
        total = total + (count + _whole((members[-1] - members[0]) / step))
    return total


def _value(number: Number, extents: Mapping[str, float]) -> float:
    return number.evaluate(extents) if isinstance(number, Polynomial) else number


def elements(references: UniformClass, sizes: Mapping[str, float]) -> float:
    """Distinct elements of a class in a tile of these sizes."""
    return _elements(references.slopes, references.offsets, tuple((d, sizes[d]) for d in references.dims))


# Arithmetic on numbers alone, of which nothing belongs to one pipeline: every compilation asks the same.
# Of numbers and names alone, of any pipeline; asked so often that a memo in Python takes longer.
@lru_cache(maxsize=4096)
def _elements(
    rows: tuple[Slopes, ...], offsets: tuple[tuple[float, ...], ...], sizes: tuple[tuple[str, float], ...]
) -> float:
    values = dict(sizes)
    count = _distinct(rows, offsets, values, values, True)
    assert not isinstance(count, Polynomial)
    return count


def bytes_touched(references: UniformClass, sizes: Mapping[str, float], line_bytes: int = 0) -> float:
    """Bytes of a class in a tile; with a line size the average bytes of the cache lines that hold them."""
    count = elements(references, sizes)
    size = references.element_bytes
    if line_bytes <= size:
        return count * size
    *others, last = references.slopes or ((),)
    shared = {dim for row in others for dim, _ in row}
    inner = tuple((dim, factor) for dim, factor in last if dim not in shared)
    if not inner:
        return count * line_bytes
    along, step = _row(inner, sizes, sizes, True)
    length = max(1.0, _value(along, sizes))
    stride = min(float(line_bytes), max(step, 1.0) * size)
    return count / length * ((length - 1) * stride + line_bytes)


@remembered
def tile_volume(nest: LoopNest, *, exact: bool = True) -> Volumes:
    """Distinct elements by class of references, as polynomials in the tile sizes."""
    extents = nest.extents
    return tuple(
        (c, _class_volume(c.slopes, c.offsets, tuple((dim, extents[dim]) for dim in c.dims), exact))
        for c in nest.classes
    )


# Arithmetic on numbers alone, of which nothing belongs to one pipeline: every compilation asks the same.
# As above.
@lru_cache(maxsize=4096)
def _class_volume(
    rows: tuple[Slopes, ...],
    offsets: tuple[tuple[float, ...], ...],
    extents: tuple[tuple[str, float], ...],
    exact: bool,
) -> Polynomial:
    """The volume of any class with these slopes, offsets and extents of the dimensions that move it."""
    sizes = {dim: Polynomial.name(dim) for dim, _ in extents}
    return Polynomial() + _distinct(rows, offsets, sizes, dict(extents), exact)


def iterations(nest: LoopNest, sizes: Mapping[str, float]) -> float:
    """Statement instances in a full tile."""
    return sum(prod(sizes[dim.name] for dim in s.dims) for s in nest.statements)
