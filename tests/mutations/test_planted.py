"""Constants, prices and conditions that are changed are noticed, each by a check that names what differs."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.program import Program
from polymat.graph.operations import _OWN
from polymat.product.formula import Constant
from polymat.product.prices import FILL
from polymat.runtime.foreign import NoArrayError, array_of
from tests.codegen import test_golden
from tests.codegen.kinds import KINDS
from tests.conftest import golden_path
from tests.fixed import compiled_levels, own_c, report_text
from tests.graph.test_operations import test_functions_of_one_code_cost_the_same as alike
from tests.graph.test_operations import test_functions_one_at_a_time_cost_some_exponentials as one_by_one
from tests.mutations.planting import Planted, planted
from tests.product import test_prices
from tests.runtime.test_foreign import Packed
from tests.tilesize.test_rowloop import test_kept_rows_fill_half_of_the_second_level as kept_rows


def _assert_golden(module: Any, name: str, text: str) -> None:
    path = golden_path(Path(module.__file__), name)
    assert text.rstrip("\n") + "\n" == path.read_text(encoding="utf-8")


def c_of(kind: str) -> None:
    program = compiled_levels(**KINDS[kind]())["codegen"]
    assert isinstance(program, Program)
    _assert_golden(test_golden, f"test_own_c[{kind}]", own_c(program))


def explained(kind: str) -> None:
    _assert_golden(test_golden, f"test_explained[{kind}]", report_text(**KINDS[kind]()))


def priced(machine: str, real: Any, turned: str) -> None:
    lines = test_prices.lines(test_prices.MACHINES[machine], real, turned)
    _assert_golden(test_prices, f"test_products[{machine}-{real}-{turned}]", "\n".join(lines))


def c(kind: str) -> Any:
    return partial(c_of, kind)


def e(kind: str) -> Any:
    return partial(explained, kind)


def named(number: int, name: str) -> None:
    """The name that an error has for a device of DLPack."""
    with pytest.raises(NoArrayError) as caught:
        array_of(Packed(np.zeros(3), number))
    assert f"on {name}," in caught.value.why


def _never(*_arguments: object) -> bool:
    return False


PRICES = partial(priced, "narrow", pm.Double, "nn")
TURNED = partial(priced, "narrow", pm.Double, "tt")


CHANGES = [
    Planted("product.blocking", "DIRECT_DEPTH", 192, PRICES),
    Planted("product.blocks", "PANEL_SHARE", 0.3, PRICES),
    Planted("product.cuts", "PASSED_EIGHTHS", 3.0, TURNED),
    Planted("product.blocks", "L3_SHARE", 1.1, c("product")),
    Planted("product.prices", "PACKING", 70.0, PRICES),
    Planted("product.prices", "NEAR_PACKING", 25.0, TURNED),
    Planted("product.prices", "STORING", 25.0, PRICES),
    Planted("product.prices", "PAIRING", 50.0, e("complex_product")),
    Planted("product.prices", "FILL", 4.0, PRICES),
    Planted("product.prices", "FULL_SHARE", 0.7, PRICES),
    Planted("product.prices", "STARTING", 600.0, PRICES),
    Planted("tilesize.stagework", "VECTOR_SHARE", 0.35, e("whole_rows")),
    Planted("plan.loops", "NO_BLOCK", 1.5, e("one_sum")),
    Planted("plan.loops", "WAITING", 3.0, e("triangular_system")),
    Planted("tilesize.cost", "OVERLAP_LOSS", 0.5, e("rows")),
    Planted("tilesize.loopprice", "GATHERED", 6.0, e("looked_up")),
    Planted("tilesize.loopprice", "DIVISION", 1000.0, e("whole_rows")),
    Planted("tilesize.register", "ROWS_REDUCED", 4, c("sums_along_rows")),
    Planted("tilesize.register", "SHIFTED_BITS", 256, c("cases")),
    Planted("tilesize.tileshape", "DOT_TILE", 1024, c("one_sum")),
    Planted("tilesize.register", "ROLLING_ROWS", 4, c("two_scales")),
    Planted("tilesize.tileshape", "APART_SHARE", 0.5, c("rows_of_planes")),
    Planted("tilesize.rowloop", "is_arithmetic", _never, c("one_loop_over_rows")),
    Planted("tilesize.streamed", "LEAST_LEVELS", 1, c("shifted_rows")),
    Planted("tilesize.filterprice", "SHARE", 0.5, e("long_filter")),
    Planted("tilesize.filterprice", "ROW", 800.0, e("filter_of_taps")),
    Planted("decide.recursiveplans", "MOVED", 12.0, e("recursive_filter")),
    Planted("model.team", "BLOCKS", 2.0, c("elimination")),
    Planted("model.team", "OPERATIONS_A_CYCLE", 1.0, c("rows")),
    Planted("model.assumed", "UNKNOWN_EXTENT", 500, e("rows")),
    Planted("model.looporder", "SPATIAL", 3, e("rows")),
    Planted("model.reuse", "NO_REUSE", 0.8, e("whole_rows")),
    Planted("rewrite.filtertime", "CACHED", (4.0, 5.0), e("filter_of_taps")),
    Planted("idiom.librarytransforms", "FFT_SHARE", 0.2, e("long_filter")),
    Planted("idiom.profit", "CALL_SECONDS", 1e-6, e("called_sums")),
    Planted("idiom.profit", "EFFICIENCY", 0.4, e("called_product")),
    Planted("tilesize.tileshape", "KEPT_SHARE", 0.3, partial(kept_rows, 256, 2048)),
    Planted("codegen.nestshares", "CHUNKS_PER_THREAD", 4, c("triangle")),
    Planted("codegen.nestshares", "A_POINT", 40.0, c("transform")),
    Planted("codegen.loops.lanesums", "TOGETHER", 2, c("sums_along_rows")),
    Planted("codegen.loops.remainders", "LONGEST", 1, c("halves")),
    Planted("codegen.loops.accumulators", "LEAST", 64, c("called_sums")),
    Planted("codegen.loops.extremes", "MOST_TERMS", 64, c("largest_of_terms")),
    Planted("codegen.memory.storage", "LINE_BYTES", 32, c("one_loop_over_rows")),
    Planted("graph.inline", "CHEAP_OPERATIONS", 0, c("read_twice")),
    Planted("graph.operations", "ONE_AT_A_TIME", 300.0, one_by_one),
    Planted("graph.operations", "_OWN", {**_OWN, "sin": 22.0}, partial(alike, pm.Sin, pm.Cos)),
    Planted("runtime.foreign", "_DEVICES", {3: "OpenCL"}, partial(named, 4, "OpenCL")),
]


@cache
def passes(check: Any) -> bool:
    check()
    return True


@pytest.mark.parametrize("change", [pytest.param(change, id=str(change)) for change in CHANGES])
def test_a_change_is_noticed(change: Planted) -> None:
    assert passes(change.check)
    owner = import_module(f"polymat.{change.module}")
    before = value_of(getattr(owner, change.name))
    with planted(change), pytest.raises(AssertionError):
        change.check()
    assert value_of(getattr(owner, change.name)) is before


def value_of(thing: Any) -> Any:
    """What a planted change gives another value: a constant of formulas, or the name itself."""
    return thing.value if isinstance(thing, Constant) else thing


def test_a_change_is_taken_back() -> None:
    """And what was computed with it is forgotten."""
    (change,) = (each for each in CHANGES if each.name == "ROWS_REDUCED")
    with planted(change), pytest.raises(AssertionError):
        change.check()
    change.check()


def test_a_constant_of_formulas_is_taken_back() -> None:
    (change,) = (each for each in CHANGES if each.name == "FILL")
    before = FILL.value
    with planted(change):
        assert FILL.value == change.value != before
    assert FILL.value == before
