"""What a compilation remembers goes with it."""

from __future__ import annotations

import ast
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import polymat as pm
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.memo import Memo, remembered, with_memo, with_own_memo


class Value:
    """Compared by identity."""


def test_it_is_asked_once_in_a_compilation_and_again_in_the_next() -> None:
    calls: list[Value] = []

    @remembered
    def asked(value: Value, more: int = 0) -> int:
        calls.append(value)
        return len(calls)

    one, other = Value(), Value()

    @with_memo
    def steps() -> Iterator[tuple[int, ...]]:
        yield asked(one), asked(other), asked(one), asked(one, 1), asked(one, more=1)
        yield (asked(one),)

    assert list(steps()) == [(1, 2, 1, 3, 4), (1,)]
    assert list(steps()) == [(5, 6, 5, 7, 8), (5,)]


def test_outside_and_between_the_steps_nothing_is_remembered() -> None:
    calls: list[Value] = []

    @remembered
    def asked(value: Value) -> int:
        calls.append(value)
        return len(calls)

    one = Value()

    @with_memo
    def steps() -> Iterator[int]:
        yield asked(one)
        yield asked(one)

    found = [(inside, asked(one)) for inside in steps()]
    assert found == [(1, 2), (1, 3)]


def test_who_owns_a_memo_keeps_what_its_methods_ask() -> None:
    calls: list[Value] = []

    @remembered
    def asked(value: Value) -> int:
        calls.append(value)
        return len(calls)

    one = Value()

    class Owner:
        def __init__(self) -> None:
            self.memo: Memo = {}

        @with_own_memo
        def ask(self) -> int:
            return asked(one)

    first, second = Owner(), Owner()
    assert [first.ask(), first.ask(), second.ask(), asked(one)] == [1, 1, 2, 3]


def test_two_at_the_same_time_share_nothing() -> None:
    @remembered
    def asked(value: Value) -> Value:
        return Value()

    one = Value()

    @with_memo
    def steps() -> Iterator[Value]:
        yield asked(one)
        yield asked(one)

    (first, second), (third, fourth) = zip(*zip(steps(), steps(), strict=True), strict=True)
    assert first is second
    assert third is fourth
    assert first is not third


def test_nothing_of_a_pipeline_outlives_its_compilation() -> None:
    N = pm.Parameter(pm.Int, "N")
    A, B = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])
    request = request_for((A @ B).named("C"))
    pipelines = (level for name, level in levels(request) if isinstance(level, Pipeline))
    found = [weakref.ref(stage) for pipeline in pipelines for stage in pipeline.stages]
    del pipelines
    gc.collect()
    assert found
    assert [stage() for stage in found] == [None] * len(found)


# What outlives compilations: nothing of a pipeline, and each says why in the comment above it.
OF_THE_PROCESS = {
    "codegen/c/formulas.py": {"_declaration", "formula_text"},
    "codegen/c/arithmetic.py": {"arithmetic_needs"},
    "codegen/c/kernels.py": {"kernel", "kernel_functions"},
    "codegen/c/pointing.py": {"_is_number"},
    "codegen/functions/elementary.py": {"_definition", "function_needs"},
    "codegen/products/blockcost.py": {"prices_text"},
    "codegen/products/cutstext.py": {"cut_macros"},
    "codegen/products/packedgemm.py": {"gemm_text"},
    "codegen/products/microkernel.py": {"described"},
    "codegen/products/waystext.py": {"choices", "ways_text"},
    "dataclass.py": {"_maker"},
    "machine/cpuinfo.py": {"first_processor"},
    "machine/probe.py": {"probe"},
    "model/footprint.py": {"_class_volume", "_elements"},
    "model/pairwise.py": {"shipped_ranker"},
    "model/reuse.py": {"_group"},
    "model/uniform.py": {"components"},
    "options.py": {"_hints"},
    "poly/ast.py": {"_nests"},
    "poly/readonce.py": {"map_of", "set_of"},
    "product/formula.py": {"asker_of"},
    "product/formulanames.py": {"_walk"},
    "product/ranking.py": {"ranked"},
    "runtime/compiled.py": {"_unpickled"},
    "runtime/foreign.py": {"_takes_copy"},
    "runtime/librarystore.py": {"_read"},
    "runtime/outlines.py": {"_identity"},
    "runtime/logs.py": {"_tell_topics"},
    "runtime/fftwlock.py": {"planner_state"},
    "runtime/workplaces.py": {"_sweep"},
    "runtime/toolchain.py": {"_kind", "predefined"},
    "tilesize/paperplan.py": {"_points"},
    "tilesize/home.py": {"missed"},
}


def test_caches_of_the_process_are_listed_and_say_why() -> None:
    root = Path(pm.__file__).parent
    found: dict[str, set[str]] = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "cache" not in text:
            continue
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                named = decorator.func if isinstance(decorator, ast.Call) else decorator
                if ast.unparse(named).split(".")[-1] in ("cache", "lru_cache"):
                    place = path.relative_to(root).as_posix()
                    found.setdefault(place, set()).add(node.name)
                    assert lines[decorator.lineno - 2].startswith("# "), f"{place}: {node.name}"
    assert found == OF_THE_PROCESS


def test_compilations_of_one_program_leave_nothing_behind() -> None:
    """A process that compiles again and again, a server say, keeps as many objects as after a few."""
    x = pm.Vector(pm.Double, "x", [pm.Parameter(pm.Int, "N")])
    y = (2 * x + x[::-1]).named("y")

    def compiled() -> int:
        """How many objects there are after it."""
        assert [*levels(request_for(y))]
        gc.collect()
        return len(gc.get_objects())

    counts = [compiled() for _ in range(6)]
    assert counts[-1] <= counts[3] + 5, counts
