"""Demands of a point of a loop on a core: instructions, loads and stores of vectors, and waiting for results.

before:  out(i) = a(i - 1) + 2.0 * a(i) + a(i + 1)
after:   two instructions, since a multiplication and an addition are one; three loads and a store

All are counted in the code and priced by what the machine's description, or `calibrate`, says of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeGuard

from polymat.dataclass import dataclass
from polymat.graph.operations import function_operations
from polymat.graph.planesbeside import Planes
from polymat.graph.stage import Accumulation, Part, Stage, loads_of
from polymat.lang.affine import Affine, Computed, FloorDiv, computed_in
from polymat.lang.expr import Binary, CastExpr, Expr, Load, Variable
from polymat.lang.traverse import children, postorder, walk
from polymat.lang.types import UInt, real_part
from polymat.memo import remembered
from polymat.model.describe import COMPLEX_OPERATIONS
from polymat.plan.loops import LoopPlan

DIVISION_WAITS = 3.0  # multiply-adds behind each other that take as long as one division

# Elements that are picked in the time of dividing an index by a constant: a product, a shift, and what makes
# it a floor.
FLOORED = 2.0
SHUFFLED = 4  # elements: of every so many-th at most whole vectors are loaded, and shuffled


@dataclass(frozen=True, slots=True)
class PointDemand:
    """The demands of a point on a core.

    instructions: of arithmetic.  unsigned: those of them that make unsigned numbers of 32 bits of
    floating-point ones.  shuffles: that put what is loaded where it belongs.  divisions: which a unit of its
    own computes.  picked, gathered: elements that are loaded one by one, from every few-th place or
    from one that another element says, the first of each such place.  bytes: of neighbours, loaded and
    stored.  accesses: loads and stores of single numbers, where there are no vectors.  chain: multiply-adds
    that wait for each other, from what the point before has to what the next one needs.  smallest: bytes of
    the smallest number, which says how many points a vector has.  backwards: whether numbers wider than the
    smallest are read from the end of a row on, of which gcc makes no vectors.
    """

    instructions: float
    unsigned: float
    shuffles: float
    divisions: float
    picked: float
    gathered: float
    bytes: float
    accesses: float
    chain: float
    smallest: int
    backwards: bool


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The loads of a point.

    bytes: of neighbours.  shuffles: that put these where they belong.  picked, gathered: elements that are
    loaded one by one.
    """

    bytes: float
    shuffles: float
    picked: float
    gathered: float


@remembered
def point_demands(
    stage: Stage, loops: LoopPlan, along: str | None, rows: int, registers: frozenset[str] | None = None
) -> tuple[PointDemand, ...]:
    """The demands of a point of each definition of a stage in these loops, sums last.

    along, rows: the dimension of which so many points run together.  registers: what is not in memory, of
    stages that run in one loop over vectors of a row; these read neighbours by shifting vectors.
    """
    return tuple(_demand(stage, loops, item, along, rows, registers) for item in stage.definitions())


def _demand(
    stage: Stage,
    loops: LoopPlan,
    item: Part | Accumulation,
    along: str | None,
    rows: int,
    registers: frozenset[str] | None,
) -> PointDemand:
    own, dims = _names_in(stage, item), item.dims if isinstance(item, Accumulation) else stage.dims
    inner = _inner(loops, own, dims)
    moving = _moving(item.expr, dims)
    shares = _shares(item.expr, moving, loops.planes)
    instructions = sum(
        share * (function_operations(node) or _arithmetic(node))
        for node, share in zip(moving, shares, strict=True)
    )
    sums = isinstance(item, Accumulation)
    loads = list(loads_of(item))
    together = [(own.get(along or "", ""), rows if along else 1)]
    together += [] if loops.planes is None else [(loops.planes.dim, loops.planes.count)]
    shifted = registers is not None or (loops.kind == "map" and loops.lanes > 1)
    loaded = _loaded(loads, inner, together, registers or frozenset(), shifted=shifted)
    in_registers = sums or stage.name in (registers or ())
    moved = loaded.bytes + (0.0 if in_registers else stage.dtype.size)
    instructions += 1.0 if sums and not _is_product(item.expr) else 0.0
    each = COMPLEX_OPERATIONS if stage.dtype.kind == "c" else 1.0
    smallest = _smallest(stage, item, loads)
    return PointDemand(
        instructions * each,
        sum(share for node, share in zip(moving, shares, strict=True) if _is_to_unsigned(node)),
        loaded.shuffles * each,
        each * sum(s for n, s in zip(moving, shares, strict=True) if isinstance(n, Binary) and n.op == "/"),
        loaded.picked,
        loaded.gathered,
        moved,
        len({(load.source.name, load.indices) for load in loads}) + (0.0 if sums else 1.0),
        max(_chain(item.expr, {stage.name, *stage.circle}), 0.0) + sums,
        smallest,
        any(load.dtype.size > smallest and _is_backwards(load, inner) for load in loads),
    )


def _smallest(stage: Stage, item: Part | Accumulation, loads: Sequence[Load]) -> int:
    """Bytes of the smallest numbers that are loaded, computed or stored."""
    types = [node.dtype for node in walk(item.expr) if children(node) and not node.dtype.weak]
    return min(real_part(each).size for each in (stage.dtype, *(load.dtype for load in loads), *types))


def _is_backwards(load: Load, inner: str) -> bool:
    return bool(load.indices) and load.indices[-1].coefficient(inner) < 0


def _shares(expr: Expr, moving: Sequence[Expr], planes: Planes | None) -> list[float]:
    """How much of each operation a point takes: of what is the same for all planes, its part."""
    if planes is None:
        return [1.0] * len(moving)
    changing = {id(node) for node in _moving(expr, (planes.dim,))}
    return [1.0 if id(node) in changing else 1.0 / planes.count for node in moving]


def _names_in(stage: Stage, item: Part | Accumulation) -> dict[str, str]:
    """For each dimension of the loops the name that a definition has for it."""
    if not isinstance(item, Accumulation):
        return {dim: dim for dim in stage.dims}
    pairs = zip(stage.dims, item.target, strict=True)
    return {dim: dim for dim in item.dims} | {dim: next(form.names(), "") for dim, form in pairs}


def _inner(loops: LoopPlan, own: Mapping[str, str], dims: Sequence[str]) -> str:
    """The dimension of a definition that its innermost loop runs along."""
    found = own.get(loops.vector or (loops.order[-1] if loops.order else ""), "")
    return found if found in dims else dims[-1] if dims else ""


def _arithmetic(node: Expr) -> float:
    if isinstance(node, Binary) and node.op == "/" and node.dtype.kind in "fc":
        return 0.0  # which divide beside the rest
    if isinstance(node, Binary) and node.op in "+-" and (_is_product(node.left) or _is_product(node.right)):
        return 0.0  # the product is counted
    return 1.0


def _is_to_unsigned(node: Expr) -> bool:
    return isinstance(node, CastExpr) and node.dtype == UInt and node.operand.dtype.kind == "f"


def _is_product(expr: Expr) -> bool:
    """Whether an addition takes it in."""
    return isinstance(expr, Binary) and expr.op == "*" and expr.dtype.kind in "fc"


def _moving(expr: Expr, dims: Collection[str]) -> list[Expr]:
    """The operations that change from point to point: others stand before the loops."""
    found: dict[int, Expr] = {}
    for node in postorder(expr)[0]:
        names = (name for form in node.indices for name in form.names()) if isinstance(node, Load) else ()
        own = isinstance(node, Variable) and node.name in dims
        if own or any(name in dims for name in names) or any(id(each) in found for each in children(node)):
            found[id(node)] = node
    return [node for node in found.values() if children(node) and not isinstance(node, Load)]


def _loaded(
    loads: Sequence[Load],
    inner: str,
    together: Sequence[tuple[str, int]],
    registers: Collection[str],
    *,
    shifted: bool,
) -> _Loaded:
    """The loads of a point, each once for rows or planes side by side: along which dimensions, and how many.

    shifted: those of a row that are neighbours are one, out of which the others are shuffled.
    """
    count = prod(number for _, number in together)
    near: dict[object, tuple[float, float, set[object]]] = {}
    apart: dict[object, object] = {}
    floored: set[FloorDiv] = set()
    moving = [load for load in loads if any(inner in form.names() for form in load.indices)]
    places = [(load, forms) for load in moving for forms in _places(load, together)]
    for load, forms in places:
        place, step = (load.source.name, *forms), _step(forms[-1], inner)
        if computed_in(forms) or step > SHUFFLED or any(inner in form.names() for form in forms[:-1]):
            apart[place] = _computed_place(load, forms, inner)
            floored |= {atom for form in forms for atom, _ in form.terms if _is_floored(atom, inner)}
            continue
        row = (*place[:-1], forms[-1] - forms[-1].const) if shifted else place
        size = 0.0 if load.source.name in registers else load.dtype.size * step
        near.setdefault(row, (size, 0.0 if step == 1.0 else max(step, 1.0), set()))[2].add(place)
    shuffled = sum(each * len(found) + len(found) - 1 for _, each, found in near.values())
    gathered = len({each for each in apart.values() if each is not None})
    return _Loaded(
        sum(size for size, *_ in near.values()) / count,
        shuffled / count,
        (len(apart) - gathered + FLOORED * len(floored)) / count,
        gathered / count,
    )


def _is_floored(atom: object, inner: str) -> TypeGuard[FloorDiv]:
    """Whether a part of an index is divided anew at each point, which no vector does."""
    return isinstance(atom, FloorDiv) and inner in atom.numerator.names()


def _computed_place(load: Load, forms: Sequence[Affine], inner: str) -> object:
    """What changes from point to point of the place that data say; None where they do not.

    before:  for j: grid(0, i, p(j)) + grid(1, i, p(j) + 1)
    after:   one place is taken out of a vector for both; what differs goes to pointers before the loop
    """
    if not computed_in(forms):
        return None
    moving = (
        tuple(
            (atom, factor)
            for atom, factor in form.terms
            if isinstance(atom, Computed) or inner in Affine(((atom, 1),)).names()
        )
        for form in forms
    )
    return (load.source.name, *moving)


def _places(load: Load, together: Sequence[tuple[str, int]]) -> Iterator[list[Affine]]:
    """The elements that a load takes for points that run together, each once."""
    steps = [[form.coefficient(dim) for form in load.indices] for dim, _ in together]
    counts = [count if any(step) else 1 for step, (_, count) in zip(steps, together, strict=True)]
    for numbers in product(*map(range, counts)):
        if not any(numbers):
            yield [*load.indices]
            continue
        moved = [[k * by for by in step] for k, step in zip(numbers, steps, strict=True)]
        yield [form + sum(shifts) for form, *shifts in zip(load.indices, *moved, strict=True)]


def _step(form: Affine, inner: str) -> float:
    """By how much a form changes from point to point, in the mean: i // 2 by a half."""
    total = 0.0
    for atom, factor in form.terms:
        if isinstance(atom, FloorDiv):
            total += abs(factor) * _step(atom.numerator, inner) / atom.divisor
        elif atom == inner:
            total += abs(factor)
    return total


def _chain(expr: Expr, own: Collection[str]) -> float:
    """Multiply-adds from a value of a stage to the next one; less than 0 where it reads none."""
    known: dict[int, float] = {}
    for node in postorder(expr)[0]:
        if isinstance(node, Load):
            known[id(node)] = 0.0 if node.source.name in own else -1.0
            continue
        within = isinstance(node, Binary) and node.op in "+-"  # which take products in
        inside = ((known[id(child)], within and _is_product(child)) for child in children(node))
        longest = max((waits - taken if waits > 0.0 else waits for waits, taken in inside), default=-1.0)
        known[id(node)] = longest if longest < 0.0 else longest + _waits(node)
    return known[id(expr)]


def _waits(node: Expr) -> float:
    """Multiply-adds that may wait for each other while a result is waited for."""
    if isinstance(node, Binary) and node.op == "/":
        return DIVISION_WAITS
    return max(1.0, function_operations(node))
