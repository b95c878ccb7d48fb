"""Expressions of the language as C expressions, with NumPy's types and rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polymat.codegen.c.affineforms import affine_expr
from polymat.codegen.c.bounds import SIDED, apart, bounded, unseen
from polymat.codegen.c.ctree import Cast, CBinary, CCall, CExpr, CUnary, Id, Literal, Subscript, Ternary
from polymat.codegen.c.elements import FUNCTIONS
from polymat.codegen.c.integers import is_divided_in_lanes, power_of_two, unlike
from polymat.codegen.c.literals import conversion, literal
from polymat.codegen.c.needs import Helper, Need, Piece
from polymat.errors import unreachable
from polymat.lang.affine import Affine, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import (
    ANGLES,
    Binary,
    Call,
    CastExpr,
    Const,
    Expr,
    Load,
    Parameter,
    SelectExpr,
    Unary,
    Variable,
    fits,
)
from polymat.lang.imaginary import imaginary_part
from polymat.lang.sharing import is_cheap_choice, is_choice_of_parts, is_extreme, is_on_indices
from polymat.lang.table import Lookup, Table
from polymat.lang.traverse import Node, children, fold
from polymat.lang.types import (
    STORED,
    Bool,
    Complex,
    ComplexFloat,
    Double,
    Float,
    Int,
    Long,
    ScalarType,
    UInt64,
    promote,
    real_part,
)
from polymat.lang.valueranges import is_always

_FLOAT_RANK = {"float32": 1, "float64": 2, "complex64": 1, "complex128": 2}
_HELPER_OPS = {"min": "min", "max": "max", "//": "floordiv", "%": "mod", "<<": "shl", ">>": "shr"}


class ExpressionWriter:
    """Writes expressions at one point: `index` gives the C value of a variable or size.

    `element` writes an access; `needs` collects the prelude functions that were used.  alone: elements are
    computed one after the other, never in vectors.  masked: there are minima and maxima of such, in vectors.
    """

    def __init__(
        self,
        index: Callable[[str], CExpr],
        scalar: Callable[[str], CExpr],
        element: Callable[[str, tuple[CExpr, ...]], CExpr],
        needs: set[Need],
        ready: Mapping[int, CExpr] | None = None,
        *,
        alone: bool = False,
        masked: bool = False,
    ) -> None:
        self.index = index
        self.scalar = scalar
        self.element = element
        self.needs = needs
        self.ready = dict(ready or {})
        self.alone = alone
        self.masked = masked

    def value(self, expr: Expr, target: ScalarType | None = None, *, exact: bool = False) -> CExpr:
        """The C expression, converted to `target` where C would not do it alike, or always (`exact`)."""
        text = fold(expr, self._node, self._operands)
        return text if target is None else self.convert(text, expr, target, force=exact, assigned=not exact)

    def _operands(self, expr: Expr) -> tuple[Expr, ...]:
        return () if id(expr) in self.ready else children(expr)

    def _node(self, expr: Node, parts: tuple[CExpr, ...]) -> CExpr:
        if id(expr) in self.ready:
            return self.ready[id(expr)]
        match expr:
            case Const(value):
                return literal(value, expr.dtype)
            case Parameter():
                return self.scalar(expr.name)
            case Variable():
                return (
                    Cast(expr.dtype.c, self.index(expr.name)) if expr.dtype != Long else self.index(expr.name)
                )
            case Load(source, indices):
                values = dict(zip(computed_in(indices), parts, strict=True))
                forms = tuple(affine_expr(form, self.index, self.needs, values) for form in indices)
                return self.element(source.name, forms)
            case Unary():
                return narrowed(CUnary("-", parts[0]), expr.dtype)
            case Binary():
                return self._binary(expr, parts)
            case Call(function, operand):
                wanted = operand.dtype if operand.dtype.kind == "c" else expr.dtype
                return self._call(function, expr, self.convert(parts[0], operand, wanted))
            case CastExpr(operand, dtype):
                return self._cast(parts[0], operand, dtype)
            case Lookup(table):
                return Subscript(Id(table_name(table)), parts[0])
            case SelectExpr(condition, then, otherwise):
                chosen = self._condition(condition, list(parts[:-2]))
                exact = usual(then.dtype, otherwise.dtype) != expr.dtype
                first = self.convert(parts[-2], then, expr.dtype, force=exact)
                second = self.convert(parts[-1], otherwise, expr.dtype, force=exact)
                at_once = is_cheap_choice if expr.dtype.kind in "iuf" else is_choice_of_parts
                if self.alone == (expr.dtype.kind != "c") and at_once(expr):
                    return self._helper("choose", expr.dtype, chosen, first, second)
                return Ternary(chosen, first, second)
            case _:
                unreachable(expr)

    def _cast(self, value: CExpr, operand: Expr, dtype: ScalarType) -> CExpr:
        if operand.dtype == dtype:
            return value
        if operand.dtype in STORED or dtype in STORED:
            self.needs.add(Piece.HALF)
            return CCall(conversion(operand.dtype, dtype), (value,))
        if dtype == Bool:
            return CBinary("!=", value, Literal("0"))
        return Cast(dtype.c, self._before(value, operand, dtype))

    def _binary(self, expr: Binary, parts: tuple[CExpr, ...]) -> CExpr:
        dtype, op = expr.dtype, expr.op
        exact = usual(expr.left.dtype, expr.right.dtype) != dtype or op in ("/", "**", *ANGLES, *_HELPER_OPS)
        left = self.convert(parts[0], expr.left, dtype, force=exact)
        right = self.convert(parts[1], expr.right, dtype, force=exact)
        if op == "**":
            return self._power(expr, left, right)
        if op in ANGLES:
            if op in SIDED:
                left, right = unseen(left, self.needs), unseen(right, self.needs)
            return self._helper(op, dtype, left, right)
        if op in ("//", "%") and dtype.kind in "iu" and (bits := power_of_two(expr.right)):
            shift, number = (
                ("&", literal((1 << bits) - 1, dtype)) if op == "%" else (">>", Literal(str(bits)))
            )
            return narrowed(CBinary(shift, left, number), dtype)
        if op in _HELPER_OPS:
            return self._helper(self._helper_name(expr), dtype, left, right)
        if op == "/" and dtype.kind == "c":
            return self._helper("div", dtype, left, right)
        return narrowed(CBinary(op, left, right), dtype)

    def _helper_name(self, expr: Binary) -> str:
        op, dtype = expr.op, expr.dtype
        if op in ("//", "%") and (dtype.kind == "f" or (not self.alone and is_divided_in_lanes(expr))):
            return f"{_HELPER_OPS[op]}lanes"
        if self.alone:
            return extreme(op, dtype)
        return f"{op}masked" if self.masked and is_extreme(expr) else _HELPER_OPS[op]

    def _power(self, expr: Binary, left: CExpr, right: CExpr) -> CExpr:
        dtype = expr.dtype
        exponent = expr.right.value if isinstance(expr.right, Const) else None
        if exponent == 2 and isinstance(left, Id):
            return narrowed(CBinary("*", left, left), dtype)
        if (dtype.kind != "f" and exponent == 2) or (dtype.kind in "fc" and exponent == 3):
            return self._helper("square" if exponent == 2 else "cube", dtype, left)
        if dtype.kind in "iu" and isinstance(expr.left, Const) and expr.left.value == 2:
            return self._helper("shl", dtype, literal(1, dtype), right)
        if dtype.kind != "f":
            return self._helper("pow", dtype, left, right)
        tail = _libm_suffix(dtype)
        if exponent == 0.5:  # as NumPy; gcc does so in vectors only
            return CCall(f"__builtin_sqrt{tail}", (left,))
        if exponent in (-1, 0, 1, 2):  # which compilers know
            return CCall(f"__builtin_pow{tail}", (left, right))
        if exponent is not None and exponent.imag == 0 and exponent.real % 1 == 0:
            if exponent.real % 2:
                return self._helper("oddpow", dtype, left, right)
            left = CCall(f"__builtin_fabs{tail}", (left,))
        return self._helper("pow", dtype, left, right)

    def _helper(self, name: str, dtype: ScalarType, *arguments: CExpr) -> CExpr:
        helper = Helper(name, dtype.suffix)
        self.needs.add(helper)
        return CCall(helper.function, arguments)

    def _call(self, function: str, expr: Call, operand: CExpr) -> CExpr:
        kind = expr.operand.dtype.kind
        if function == "exp" and kind == "c" and (turn := imaginary_part(expr.operand)) is not None:
            return self._helper(
                "cis", real_part(expr.dtype), self.value(turn, real_part(expr.dtype), exact=True)
            )
        if function == "abs" and kind in "iu":
            return operand if kind == "u" else self._helper("abs", expr.dtype, operand)
        if function in ("floor", "ceil", "round") and kind in "iu":
            return operand
        if function in ("sign", "i0") or (function in FUNCTIONS and expr.dtype.kind == "f"):
            operand = unseen(operand, self.needs) if function in SIDED else operand
            return self._helper(function, expr.dtype, operand)
        if function in ("conj", "real", "imag") and kind != "c":
            return operand if function != "imag" else literal(0, expr.dtype)
        if function == "abs" and kind == "c":
            return self._helper("cabs", expr.dtype, operand)
        name = {"conj": "conj", "real": "creal", "imag": "cimag", "round": "rint"}.get(function)
        if name is None:
            fabs = "fabs" if function == "abs" and kind == "f" else function
            name = f"c{fabs}" if kind == "c" else fabs
        return CCall(f"__builtin_{name}{_libm_suffix(expr.dtype)}", (operand,))

    def _condition(self, condition: Condition, operands: list[CExpr]) -> CExpr:
        if condition.combines:
            left, right = (self._condition(part, operands) for part in (condition.left, condition.right))
            # gcc makes no vectors where && alone decides on a read; both sides may be read at every point.
            at_once = not self.alone and not is_on_indices(condition)
            op = condition.op if at_once else 2 * condition.op
            return CBinary(op, left, right)
        kinds = {condition.left.dtype, condition.right.dtype}
        if UInt64 in kinds and any(dtype.kind == "i" for dtype in kinds):
            return unlike(condition, operands.pop(0), operands.pop(0))
        common = promote(condition.left.dtype, condition.right.dtype)
        if not (fits(condition.left, common) and fits(condition.right, common)):
            common = Long  # an integer is compared with a literal beyond its type, as it is
        left = self.convert(operands.pop(0), condition.left, common, force=True)
        return CBinary(condition.op, left, self.convert(operands.pop(0), condition.right, common, force=True))

    def convert(
        self, text: CExpr, expr: Expr, target: ScalarType, *, force: bool = False, assigned: bool = False
    ) -> CExpr:
        """Let `text`, the value of `expr`, be of type `target`; C's own conversions stay unwritten."""
        if expr.dtype == target:
            return text
        text = self._before(text, expr, target)
        if isinstance(expr, Const) and expr.dtype.weak:
            return text if target.weak else literal(expr.value, target)
        if expr.dtype.weak and target.weak and expr.dtype.kind == target.kind:
            return text
        if assigned or (not force and target.kind in "fc" and isinstance(expr, Load | Parameter)):
            return text
        if target.kind == "c" and expr.dtype.kind != "c":
            part = Float if target.size == 8 else Double
            return CCall("__builtin_complex", (Cast(part.c, text), literal(0.0, part)))
        return Cast(target.c, text)

    def _before(self, text: CExpr, expr: Expr, target: ScalarType) -> CExpr:
        """The value of `expr`, as it is before it becomes a `target`.

        Vectors of less than 512 bits have no instruction that makes floating-point numbers of integers of 64
        bits: what is known to fit 32 of them becomes one first.
        """
        if expr.dtype.kind == "f" and target.kind in "iu":
            return apart(bounded(text, self.needs), target)
        is_long = expr.dtype.kind in "iu" and expr.dtype.size > Int.size and not isinstance(expr, Const)
        return Cast(Int.c, text) if is_long and target.kind in "fc" and is_always(expr, Int) else text

    def affine(self, form: Affine) -> CExpr:
        """An affine form as an integer expression, with the values that it is computed from."""
        values = {atom: self.value(atom.value) for atom in computed_in([form])}
        return affine_expr(form, self.index, self.needs, values)


def usual(left: ScalarType, right: ScalarType) -> ScalarType:
    """The type to which C's usual arithmetic conversions take two operands (16 bits and less: as NumPy)."""
    if left == right:
        return left
    kinds = left.kind + right.kind
    if "c" in kinds or "f" in kinds:
        single = max(_FLOAT_RANK.get(t.dtype, 0) for t in (left, right)) == 1
        if "c" in kinds:
            return ComplexFloat if single else Complex
        return Float if single else Double
    if left.weak or right.weak:
        return right if left.weak else left
    return Int if max(left.size, right.size) < 4 else promote(left, right) if "u" not in kinds else Int


def narrowed(expr: CExpr, dtype: ScalarType) -> CExpr:
    """C computes 8- and 16-bit integers as int: cut the result back."""
    return Cast(dtype.c, expr) if dtype.kind in "iu" and dtype.size < 4 else expr


def extreme(op: str, dtype: ScalarType) -> str:
    """The helper of an operation on elements that are computed one after the other."""
    return f"{op}alone" if op in ("min", "max") and dtype.kind in "fiu" else _HELPER_OPS[op]


def table_name(table: Table) -> str:
    """The C name of a table."""
    return f"_pm_table_{table.digest}"


def _libm_suffix(dtype: ScalarType) -> str:
    return "f" if dtype.dtype in ("float32", "complex64") else ""
