"""The graph for Graphviz."""

from __future__ import annotations

from collections.abc import Callable

from polymat import Double, Function, Int, Interval, Matrix, Op, Parameter, Reduce, Reduction, Variable
from polymat.graph.build import build
from polymat.graph.graphviz import to_dot

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
whole = Interval(Int, 0, N - 1)


def test_inputs_functions_reductions_and_outputs(golden: Callable[[str], None]) -> None:
    A = Matrix(Double, "A", [N, 2 * N + 1])
    f = Function(([i, j], [whole, Interval(Int, 0, i)]), Double, "f")
    f.defn = A(i, j) + A(j, i)
    r = Reduction(([i], [whole]), ([i, j], [whole, Interval(Int, 0, i)]), Double, "r")
    r.defn = [Reduce(r(i), f(i, j) * A(i, j), Op.Sum)]
    golden(to_dot(build([r])))
