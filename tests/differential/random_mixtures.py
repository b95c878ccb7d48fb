"""Random programs that mix what other generators draw apart: whole arrays, signals, transforms, filters, products,
gathers, recurrences, segments, extremes with places, iterations and all element types, compiled with random options.

Values are integers small enough that every sum of them is exact, unless they come of transforms and quotients; what
is drawn from those is smooth, and compared up to rounding.  Arrays lie in all ways.

`python -m tests.differential.random_mixtures FIRST [COUNT]` runs programs.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections import Counter
from dataclasses import fields, replace
from typing import Any

import numpy as np

import polymat as pm
from polymat import Condition
from polymat.lang.types import to_bfloat16
from polymat.options import SKIPPABLE
from tests.differential.compare import Variant
from tests.differential.mixeddraw import SIZES, Draw, Mixture, Steps, Value
from tests.differential.mixedindices import cases, counted, gathered, iterated, recurrence, segmented
from tests.differential.mixedsignals import signalled
from tests.differential.mixedwhole import cast, chosen, elementwise, product, reduced, sliced, unary
from tests.differential.test_random import strided

STEPS: Steps = tuple(
    (each.__name__, each)
    for each in (
        *(elementwise, elementwise, unary, unary, cast, chosen, reduced, reduced, sliced, product, product),
        *(
            gathered,
            gathered,
            cases,
            recurrence,
            recurrence,
            counted,
            segmented,
            iterated,
            signalled,
            signalled,
        ),
    )
)
ALL_SIZES = ((1, 1, 1), (2, 3, 5), (3, 1, 8), (4, 17, 2), (2, 7, 33), (1, 20, 3))
EMPTY_SIZES = ((0, 3, 2), (2, 0, 3), (1, 2, 0))

CHOICES: dict[str, tuple[Any, ...]] = {
    "cost": ("paper", "polymage"),
    "threads": (1, 3, 5),
    "tile_sizes": ((1,), (3,), (7, 2), (2, 3, 5), (1000,)),
    "blas": ("always", "never"),
    "fft": ("always", "never"),
    "fir": ("direct", "fft", "blocks", "whole"),
    "math": ("libm",),
    "blocks": ("working-sets", "model"),
    "parallel_threshold": (None,),
}
SWITCHES = (
    *("share", "inline", "reassociate", "join", "keep", "fuse", "siblings", "overlap", "rolling"),
    *("private", "tile", "outwards", "unroll", "vector", "kernels", "steps"),
)


def mixture(seed: int) -> Mixture:
    """The program of a seed."""
    return Draw(seed).program(random.Random(seed).choice((2, 4, 8)), STEPS)


def random_options(rng: random.Random, cflags: tuple[str, ...] = ("-O1",)) -> pm.Options:
    """Some options differ from their defaults; those beside which another has no effect are drawn again."""
    while True:
        drawn: dict[str, Any] = {"cflags": cflags, "threads": 2, "parallel_threshold": 0}
        often = rng.choice((0.0, 0.1, 0.3))
        drawn |= {name: rng.choice(values) for name, values in CHOICES.items() if rng.random() < often}
        drawn |= dict.fromkeys((name for name in SWITCHES if rng.random() < often), False)
        if rng.random() < often:
            drawn["skip"] = tuple(rng.sample(SKIPPABLE, rng.choice((1, 2, 5))))
        try:
            return pm.Options(**drawn)
        except pm.OptionError:
            continue


def shown(options: pm.Options) -> str:
    """The options that are not the usual ones."""
    usual = pm.Options()
    found = {f.name: getattr(options, f.name) for f in fields(options)}
    return ", ".join(f"{k}={v!r}" for k, v in found.items() if v != getattr(usual, k))


def compiled(made: Mixture, variant: Variant, rng: random.Random) -> Any:
    """The program, without options that have no effect in it."""
    outputs = [value.source for value in made.outputs]
    more: dict[str, Any] = {}
    matrices = [each for each in made.inputs if each.rank == 2 and each.name[0] == "A"]
    if rng.random() < 0.15:
        more["fortran"] = [rng.choice(matrices)]
    elif rng.random() < 0.15:
        more["strided"] = [rng.choice(matrices)]
    if rng.random() < 0.2:
        more["estimates"] = {size: rng.choice((1, 3, 40, 3000)) for size in SIZES}
    more["inputs"] = made.inputs
    try:
        return _within_bounds(variant, outputs, **more)
    except pm.OptionError as refused:
        text = str(refused)
        if "blocks" not in text:
            raise
        changed = replace(variant, options=replace(variant.options, blocks="shares"))
        return compiled(made, changed, rng)


def _within_bounds(variant: Variant, outputs: list[Any], **more: Any) -> Any:
    """Compile for sizes from 1 on where 0 would leave an array."""
    try:
        return variant.compile(outputs, **more)
    except pm.BoundsError:
        some = [Condition(size, ">=", 1) for size in SIZES]
        return variant.compile(outputs, constraints=some, **more)


def arrays(made: Mixture, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Small integers for all inputs, in arrays that lie in all ways."""
    numbers, rng, found = np.random.default_rng([seed, *sizes.values()]), random.Random(seed), {}
    for each in made.inputs:
        shape = [extent.evaluate(sizes) for extent in each.shape]
        if each.name == "ends":
            found["ends"] = np.sort(numbers.integers(0, sizes["N"] + 1, shape, dtype=np.int32))
            continue
        low, high = (0, 9) if each.dtype.kind == "u" else (-4, 4)
        values = numbers.integers(low, high + 1, shape)
        if each.dtype == pm.BFloat16:
            array = to_bfloat16(values.astype(np.float32))
        elif each.dtype.kind == "c":
            other = numbers.integers(low, high + 1, shape)
            array = (values // 2 + 1j * (other // 2)).astype(each.dtype.dtype)
        else:
            array = values.astype(each.dtype.dtype)
        found[each.name] = strided(array, rng)
    return found


def tolerance(made: Mixture, value: Value) -> float:
    """How far an element of an output may be off: not at all where it is exact."""
    if value.exact:
        return 0.0
    kinds = {v.dtype for v in made.drawn if not v.exact} | {value.dtype}
    unit = 1e-10
    for dtypes, larger in (((pm.Float, pm.ComplexFloat), 3e-4), ((pm.Half,), 1e-2), ((pm.BFloat16,), 0.06)):
        unit = larger if kinds & set(dtypes) else unit
    return float(unit * min(value.largest, 1e6))


def differences(made: Mixture, seed: int, options: pm.Options | None = None) -> list[str]:
    """Where compiled code differs from the interpreter."""
    rng = random.Random(f"options {seed}")
    options = random_options(rng) if options is None else options
    small: dict[str, Any] = {"small_tiles": rng.random() < 0.5, "small_functions": rng.choice((0, 0, 14))}
    function = compiled(made, Variant(options, rng.random() < 0.2, **small), rng)
    found = []
    for numbers in (*ALL_SIZES, *EMPTY_SIZES):
        sizes = dict(zip("KMN", numbers, strict=True))
        given = arrays(made, sizes, seed)
        known = {each.name: given[each.name] for each in function.signature.inputs}
        known |= {
            size.name: sizes[size.name]
            for size in function.signature.sizes
            if size.name in sizes and size.array < 0
        }
        try:
            expected = _tuple(function.reference(**known))
        except pm.ArgumentError as refusal:
            try:
                function(**known)
            except pm.ArgumentError as other:
                if str(other) != str(refusal):
                    found.append(f"{sizes}: refused as {other} and {refusal}")
            else:
                found.append(f"{sizes}: only the interpreter refuses: {refusal}")
            continue
        results = _tuple(function(**known))
        out = [np.full_like(each, 7) for each in expected]
        if rng.random() < 0.5:
            results = _tuple(function(**known, out=tuple(out) if len(out) > 1 else out[0]))
        for value, result, right in zip(made.outputs, results, expected, strict=True):
            text = wrong(value, result, right, tolerance(made, value))
            if text:
                found.append(f"{value.source.name} at {sizes}: {text}")
    return [f"{each} ({shown(options)})" for each in found]


def wrong(value: Value, result: Any, right: Any, error: float) -> str:
    """What is wrong with a result; empty if nothing."""
    if result.dtype != right.dtype or result.shape != right.shape:
        return f"{result.dtype} {result.shape} instead of {right.dtype} {right.shape}"
    if value.dtype == pm.BFloat16:
        result, right = ((each.astype(np.uint32) << 16).view(np.float32) for each in (result, right))
    if error == 0.0:
        same = np.array_equal(result, right, equal_nan=right.dtype.kind in "fc")
    else:
        finite = np.isfinite(right)
        same = bool(np.all(np.abs(np.where(finite, result, 0) - np.where(finite, right, 0)) <= error))
    return "" if same else f"{result!r} instead of {right!r}"


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def main() -> int:
    """Run programs and tell what is wrong with them, and how many were refused."""
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    told: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    began = time.monotonic()
    for seed in range(first, first + count):
        made = Mixture()
        try:
            made = mixture(seed)
            kinds.update(text.split(":")[0] for text in made.text)
            found = differences(made, seed)
        except pm.LangError as refusal:
            told[f"{type(refusal).__name__}"] += 1
            print(f"-- {seed} refused: {str(refusal)[:300]}", flush=True)
            continue
        except Exception:
            found = [traceback.format_exc()]
        told["wrong" if found else "right"] += 1
        if found:
            print(f"-- {seed} WRONG\n" + "\n".join(found)[:3000] + f"\n{made}", flush=True)
    print(dict(told), f"{time.monotonic() - began:.0f} s", dict(kinds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
