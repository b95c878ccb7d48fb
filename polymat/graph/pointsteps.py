"""How points take steps that need no other point, as values, and what these steps do not change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polymat.dataclass import dataclass
from polymat.graph.stage import Bounds
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter, Variable
from polymat.lang.sharing import evaluated
from polymat.lang.table import Lookup
from polymat.lang.traverse import children, postorder_with_operands, unconditional, walk


@dataclass(frozen=True, slots=True)
class PointSteps:
    """The steps of a section whose points need themselves alone.

    step: the name of the step.  span: the points.  states: by the input that has what the step before made,
    the stage that makes it anew.  changing: by stage, a number that is not 0 where a step may change a point;
    empty where every one may.
    """

    step: str
    span: Bounds
    states: Mapping[str, str]
    changing: Mapping[str, Expr]

    def __str__(self) -> str:
        """In words, as `explain()` has it."""
        left = ", and leaves off where no step changes it any more" * bool(self.changing)
        return f"each point takes all steps before others do{left}"


def invariants(expr: Expr, states: Mapping[str, str], step: str) -> tuple[Expr, ...]:
    """The largest parts of a definition that are the same at all steps, and may be computed before them.

    What a branch of a choice alone computes is among them where computing it needlessly does no harm: where
    it reads nothing, and divides no integers.
    """
    fixed, harmless = set[int](), set[int]()
    order, operands, _ = postorder_with_operands(expr)
    read = elements(walk(expr, evaluated))
    for node, parts in zip(order, operands, strict=True):
        if _is_fixed(node, states, step) and all(id(part) in fixed for part in parts):
            fixed.add(id(node))
        if (_is_harmless(node) or (read >= elements([node]) != set())) and all(
            id(part) in harmless for part in parts
        ):
            harmless.add(id(node))
    always = {id(node) for node in walk(expr, unconditional)}
    ready = {key for key in fixed if key in always or key in harmless}
    outer = walk(expr, lambda node: () if id(node) in ready else children(node))
    return tuple(node for node in outer if id(node) in ready and _is_computed(node))


def elements(nodes: Iterable[Expr]) -> set[tuple[str, tuple[Affine, ...]]]:
    """The elements of arrays among some values."""
    return {(node.source.name, node.indices) for node in nodes if isinstance(node, Load)}


def _is_fixed(node: Expr, states: Mapping[str, str], step: str) -> bool:
    if isinstance(node, Load):
        return node.source.is_input and node.source.name not in states
    return not (isinstance(node, Variable | Parameter) and node.name == step)


def _is_harmless(node: Expr) -> bool:
    if isinstance(node, Binary):
        return node.dtype.kind in "fc" or node.op in ("+", "-", "*")
    return not isinstance(node, Load | Lookup)


def _is_computed(node: Expr) -> bool:
    """Whether it is more than a name or numbers."""
    plain = isinstance(node, Const | Variable | Parameter)
    return not plain and any(isinstance(each, Load | Variable | Parameter) for each in walk(node))
