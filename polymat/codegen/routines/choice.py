"""When a library is called: at each call, from its measured times and the price of own code at the sizes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce

from polymat.codegen.c.ctree import Cast, CBinary, CCall, CExpr, Literal, Ternary
from polymat.codegen.c.needs import Piece
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.work import box_points
from polymat.codegen.routines.curve import curve_text
from polymat.graph.monomials import Factor
from polymat.idiom.callcosts import CallChoice, MeasuredCall
from polymat.lang.affine import Affine
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan
from polymat.product.contraction import Contraction
from polymat.product.prices import pairing_operations
from polymat.product.question import facts, facts_number, machine_values

ALMOST_NOTHING = 200000  # multiplications below which asking would take too long beside computing


def is_left(writer: StageWriter, plan: CallPlan) -> CExpr:
    """Whether own code is quicker for the whole stage: the same in every part, so all go the same way."""
    terms = [box_points(a.box, writer.size) for a in plan.stage.accumulations]
    points = reduce(partial(CBinary, "+"), terms)
    small = CBinary("<", points, Literal(f"{plan.least!r}"))
    if plan.choice is None:
        return small
    asked = CBinary("<", points, Literal(f"{float(ALMOST_NOTHING)!r}"))
    own = _own_seconds(writer, plan, plan.choice, points)
    return Ternary(asked, small, CBinary("<", own, _call_seconds(writer, plan.choice)))


def _call_seconds(writer: StageWriter, choice: CallChoice) -> CExpr:
    """The seconds of all calls by what was measured."""
    return reduce(partial(CBinary, "+"), (_one(writer, call) for call in choice.calls))


def _one(writer: StageWriter, call: MeasuredCall) -> CExpr:
    name = f"_pm_seconds_{call.routine}_{call.dtype}"
    writer.texts.setdefault(name, curve_text(name, call.grid))
    writer.needs.update({Piece.CURVE, Piece.PLACE})
    seconds: CExpr = CCall(name, tuple(_product(writer, extent) for extent in call.extents))
    return CBinary("*", _product(writer, call.batch), seconds) if call.batch else seconds


def _own_seconds(writer: StageWriter, plan: CallPlan, choice: CallChoice, points: CExpr) -> CExpr:
    """The seconds of the code beside the calls; of register blocks more, which have to be clearly quicker."""
    if not isinstance(plan.loops, KernelPlan):
        return CBinary("*", Literal(f"{choice.each!r}"), points)
    products = plan.loops.contraction.apart
    seconds = [_product_seconds(writer, plan.loops, each, choice) for each in products]
    if plan.loops.pairs:
        seconds += [_pairing_seconds(writer, each, choice.flops) for each in products]
    return CBinary("*", Literal(f"{choice.share}"), reduce(partial(CBinary, "+"), seconds))


def _pairing_seconds(writer: StageWriter, found: Contraction, flops: float) -> CExpr:
    """The seconds that writing the pairs of complex right operands takes."""
    each = pairing_operations(1.0, 1.0) / flops
    return CBinary("*", Literal(f"{each!r}"), _product(writer, map(found.extent, found.right_dims)))


def _product_seconds(writer: StageWriter, plan: KernelPlan, found: Contraction, choice: CallChoice) -> CExpr:
    """The seconds of one product by register blocks, at so many operations a second, as far as predicted."""
    writer.needs.update({Piece.BLOCKS, Piece.PLACE})
    blocks = plan.blocks

    def lengths(*dims: str) -> CExpr:
        return _product(writer, map(found.extent, dims))

    def step(factor: Factor, dim: str) -> CExpr:
        return _step(writer, found, factor, dim)

    extents = CCall(
        "_pm_extents",
        (
            *map(lengths, (found.rows, found.columns, found.depth)),
            *(lengths(*dims) for dims in (found.more_rows, found.more_columns, found.sums)),
        ),
    )
    lying = CCall(
        "_pm_lying",
        (
            extents,
            *(step(found.left, dim) for dim in (found.rows, found.depth)),
            *(step(found.right, dim) for dim in (found.depth, found.columns)),
            Literal(str(facts_number(facts(found, blocks, plan.handed, plan.ended)))),
        ),
    )
    machine = CCall(
        "_pm_in_blocks", (lying, *(Literal(str(value)) for value in machine_values(blocks).values()))
    )
    operations = CCall("_pm_blocks_operations", (machine,))
    each: CExpr = CBinary("*", Literal(f"{1.0 / choice.flops!r}"), operations)
    if choice.ratio is not None:
        name = f"_pm_ratio_{plan.element_bytes}"
        writer.texts.setdefault(name, curve_text(name, choice.ratio))
        writer.needs.add(Piece.CURVE)
        whole = (lengths(*dims) for dims in (found.all_rows, found.all_columns, found.summed))
        each = CBinary("*", each, CCall(name, tuple(whole)))
    return CBinary("*", lengths(*found.outer), each) if found.outer else each


def _step(writer: StageWriter, found: Contraction, factor: Factor, dim: str) -> CExpr:
    """How far neighbours along a dimension lie apart; pairs, and reals of complex values, as if dense."""
    if factor.source in writer.storage:
        return writer.bodies.step(factor.source, factor.indices, dim)
    return writer.bodies.step_among([_reach(found, form) for form in factor.indices], factor.indices, dim)


def _reach(found: Contraction, form: Affine) -> Affine:
    """How many places an index has that is a sum of dimensions; others, a step say, stay where they are."""
    lengths = (found.extent(name) - 1 for name in dict.fromkeys(form.names()) if name in found.extents)
    return sum(lengths, start=Affine((), 1))


def _product(writer: StageWriter, extents: Iterable[Affine]) -> CExpr:
    """A length in double."""
    terms: list[CExpr] = [Cast("double", writer.size(extent)) for extent in extents]
    return reduce(partial(CBinary, "*"), terms) if terms else Literal("1.0")
