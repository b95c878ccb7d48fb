"""What matrix and signal algebra share: shapes, scalars, fresh variables, point-wise stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import chain, count
from typing import Any, TypeVar

from polymat.errors import LangError, NameClashError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load, Parameter, Variable, as_computed, as_expr
from polymat.lang.function import CaseEntry, Function, Source
from polymat.lang.interval import Interval, size_parameters
from polymat.lang.names import check_name
from polymat.lang.operators import shown
from polymat.lang.traverse import walk
from polymat.lang.types import Int, ScalarType, promote, strong

Shape = tuple[Affine, ...]
R = TypeVar("R", bound="Result")
_MAX_TEXT = 40


class Result(Function):
    """A stage that algebra made: unnamed at first, called by its formula in messages."""

    _settable = frozenset({"text"})
    text = ""  # the formula, in parentheses where it needs them

    @property
    def label(self) -> str:
        """Name for messages: the given one, or the formula where it is short."""
        if self.name is None and 0 < len(self.text) <= _MAX_TEXT:
            return self.text
        return super().label

    def named(self: R, name: str) -> R:
        """Give the stage a name and return it; a second, different name is an error."""
        at = caller_location()
        check_name(name, self.what, at)
        if self.name not in (None, name):
            raise NameClashError(f"{self.name} is named a second time, {name}", at=at)
        self.name = name
        return self


def dims(shape: Shape) -> str:
    """A shape in words: `M x N`, `N`, `scalar`."""
    texts = [str(extent) for extent in shape]
    if len(texts) > 1:
        texts = [f"({t})" if " " in t else t for t in texts]
    return " x ".join(texts) or "scalar"


def described(source: Source) -> str:
    """A source and its shape: `A (M x N)`."""
    return f"{source.label} ({dims(source.shape)})"


def extents_hint(left: Affine, right: Affine) -> str:
    """A hint for two extents that differ, where they are symbolic."""
    if left.is_constant and right.is_constant:
        return ""
    return "use one Parameter for extents that are always equal"


def check_mode(function: str, mode: object, modes: Sequence[str]) -> None:
    """Refuse what is none of the modes of a function."""
    if not isinstance(mode, str) or mode not in modes:
        *names, last = map(repr, modes)
        raise LangError(
            f"{function}: mode is {', '.join(names)} or {last}, got {mode!r:.40}", at=caller_location()
        )


def check_plain(source: Source, operation: str) -> None:
    """Refuse a plain function whose domain is no array from 0 on."""
    if not isinstance(source, Function):
        return
    for variable, interval in zip(source.variables, source.intervals, strict=True):
        sizes = {p.name for p in interval.sizes}
        if interval.lo != Affine() or not sizes.issuperset(interval.hi.names()):
            raise ShapeError(
                f"{operation}: {source.label} cannot be taken as a whole, "
                f"{variable.name} goes from {interval.lo} to {interval.hi}",
                at=caller_location(),
                hint="each interval must start at 0 and end at a size; index the function in a definition",
            )


def scalar(value: Any, operation: str) -> Expr | None:
    """A number, an expression without variables or a rank-0 stage; None for what has dimensions."""
    if isinstance(value, Source):
        return value() if value.rank == 0 else None
    expr = as_expr(value, caller_location())
    for node in walk(expr):
        moving = isinstance(node, Variable) or (isinstance(node, Load) and not _fixed(node))
        if moving:
            raise LangError(
                f"{operation}: {shown(expr)} is not a scalar, it depends on indices",
                at=caller_location(),
                hint="index the other operand too, in a definition: alpha * A(i, j)",
            )
    return expr


def _fixed(load: Load) -> bool:
    sizes = {p.name for p in load.sizes}
    return all(sizes.issuperset(index.names()) for index in load.indices)


def names_in(operands: Iterable[Source | Expr]) -> set[str]:
    """The names that variables of a new stage must avoid."""
    names: set[str] = set()
    for operand in operands:
        if isinstance(operand, Source):
            names.update(p.name for p in operand.sizes)
            continue
        for node in walk(operand):
            if isinstance(node, Parameter):
                names.add(node.name)
            elif isinstance(node, Load):
                names.update(chain.from_iterable(index.names() for index in node.indices))
    return names


def fresh_variables(number: int, taken: set[str]) -> list[Variable]:
    """Index variables i, j, k, ..., skipping the names that are taken."""
    candidates = chain("ijklmnpqrs", (f"i{n}" for n in count(1)))
    free = (name for name in candidates if name not in taken)
    return [Variable(Int, next(free)) for _ in range(number)]


def span(extent: Affine, sizes: Sequence[Parameter]) -> Interval:
    """The interval 0 .. extent - 1."""
    return between(Affine(), extent - 1, sizes)


def between(low: Affine, high: Affine, sizes: Sequence[Parameter]) -> Interval:
    """The interval low .. high; `sizes` are the parameters that its bounds may use."""
    used = {*low.names(), *high.names()}
    return Interval(Int, low, high, sizes=tuple(p for p in sizes if p.name in used))


def merged_sizes(*operands: Source | Expr) -> tuple[Parameter, ...]:
    """The parameters that the extents of a result may use, in order of first use."""
    found = (o.sizes if isinstance(o, Source) else size_parameters(o) for o in operands)
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def read(source: Source, index: Affine, sizes: Sequence[Parameter], before: Sequence[Variable] = ()) -> Expr:
    """The value of a source at an affine form, which may use some of `sizes`, along its last dimension.

    before: the indices along the others.
    """
    used = set(index.names())
    indices = (*(Affine.name(each.name) for each in before), index)
    known = tuple(p for p in sizes if p.name in used)
    return as_computed(Load(source, indices, source.dtype, caller_location(), known))


StageType = Callable[[tuple[list[Variable], list[Interval]], ScalarType], R]


def pointwise(
    make: StageType[R],
    operands: Sequence[Source | Expr],
    shape: Shape,
    value: Callable[..., Expr | list[CaseEntry]],
    text: str,
    dtype: ScalarType | None = None,
) -> R:
    """The stage over `shape` whose definition is `value(i, j, ...)`: an expression or a list of cases.

    Its element type is that of the values unless `dtype` is given.
    """
    sizes = merged_sizes(*operands)
    variables = fresh_variables(len(shape), names_in(operands))
    entries = value(*variables)
    values = [entries] if isinstance(entries, Expr) else [as_expr(entry.value) for entry in entries]
    found = strong(reduce(promote, (v.dtype for v in values)))
    stage = make((variables, [span(extent, sizes) for extent in shape]), dtype or found)
    stage.defn = entries
    stage.text = text
    return stage


def check_same_shape(operation: str, left: Source, right: Source, hint: str = "") -> None:
    """Refuse operands whose extents are not provably equal."""
    one, other = left.shape, right.shape
    if one == other:
        return
    reason = f"ranks {len(one)} and {len(other)} differ"
    if len(one) == len(other):
        a, b = next((a, b) for a, b in zip(one, other, strict=True) if a != b)
        reason, hint = f"extents {a} and {b} differ", hint or extents_hint(a, b)
    raise ShapeError(
        f"{operation}: {described(left)} and {described(right)} do not fit: {reason}",
        at=caller_location(),
        hint=hint,
    )
