"""Random programs compiled in batches, and their results compared with interpreter and oracle."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

import polymat as pm
from polymat.codegen import functionlimits
from polymat.tilesize import planner, register, tileshape
from tests.differential.oracle import TYPES, Oracle
from tests.differential.random_programs import HEAD, Program


@dataclass(frozen=True)
class Variant:
    """How a batch is compiled.

    small_tiles: arrays of a few elements have several tiles.  small_functions: those of C take few arguments, and are
    cut to pieces of about so many lines; 0: as users have them.
    """

    options: pm.Options
    trim: bool = False
    small_tiles: bool = False
    small_functions: int = 0

    def compile(self, outputs: Sequence[Any], **more: Any) -> pm.Compiled:
        """Compile."""
        with contextlib.ExitStack() as stack:
            patched = [*SMALL_TILES] if self.small_tiles else []
            patched += small_functions(self.small_functions) if self.small_functions else []
            for module, name, value in patched:
                stack.enter_context(mock.patch.object(module, name, value))
            return compile_tiled(outputs, self.options, name="batch", trim=self.trim, **more)


def compile_tiled(outputs: Sequence[Any], options: pm.Options, **others: Any) -> pm.Compiled:
    """Compile, without tile sizes where nothing is tiled."""
    try:
        return pm.compile(list(outputs), options=options, **others)
    except pm.OptionError as refused:
        if "tile_sizes" not in str(refused):
            raise
        return pm.compile(list(outputs), options=replace(options, tile_sizes=()), **others)


SMALL_TILES: tuple[tuple[Any, str, Any], ...] = (
    (planner, "DOT_TILE", 3),
    (tileshape, "DOT_TILE", 3),
    (tileshape, "INNER_TILE", 3),
    (tileshape, "ROWS_REDUCED", 2),
    (tileshape, "ROWS_APART", (2, 1)),
    (planner, "ROWS_REDUCED", 2),
    (register, "ROWS_REDUCED", 2),
    (register, "ROWS_UPDATED", 3),
)


def small_functions(lines: int) -> list[tuple[Any, str, Any]]:
    """Limits of functions of C that nearly all of them exceed."""
    few: tuple[str, Any] = ("MOST_ARGUMENTS", 3)
    return [(functionlimits, *each) for each in (few, ("MOST_LINES", lines), ("SHORTER", ()))]


def _options(**changes: Any) -> pm.Options:
    return replace(pm.Options(cflags=("-O1",)), **changes)


PARALLEL: dict[str, Any] = {"cflags": ("-O1",), "parallel_threshold": 0, "threads": 2}
OFF: dict[str, Any] = dict.fromkeys(
    ("share", "siblings", "rolling", "outwards", "unroll", "vector", "kernels"), False
)

VARIANTS = {
    "plain": Variant(_options()),
    "not inlined": Variant(_options(inline=False)),
    "O3": Variant(_options(cflags=("-O3",))),
    "parallel 2": Variant(_options(parallel_threshold=0, threads=2)),
    "trimmed": Variant(_options(threads=1), trim=True),
    "small tiles": Variant(_options(parallel_threshold=0, threads=2), small_tiles=True),
    "small functions": Variant(
        _options(parallel_threshold=0, threads=2, inline=False), small_tiles=True, small_functions=14
    ),
    "smaller functions, temporaries on the stack": Variant(
        _options(threads=1, inline=False, fuse=False), small_functions=12
    ),
    "untiled": Variant(_options(tile=False, fuse=False, parallel_threshold=0, threads=2)),
    "parallel 3": Variant(_options(parallel_threshold=0, threads=3, inline=False)),
    "library": Variant(pm.Options(blas="always", **PARALLEL)),
    "naive": Variant(pm.Options.naive(**PARALLEL)),
    "much switched off": Variant(pm.Options(**OFF, **PARALLEL)),
    "polymage": Variant(pm.Options.polymage(**PARALLEL)),
    "paper": Variant(pm.Options.paper(**PARALLEL)),
    "tiles 1": Variant(pm.Options(tile_sizes=(1,), **PARALLEL)),
    "tiles 3": Variant(pm.Options(tile_sizes=(3,), inline=False, **PARALLEL)),
    "tiles 7, 2": Variant(pm.Options(tile_sizes=(7, 2), **PARALLEL)),
    "large tiles": Variant(pm.Options(tile_sizes=(1000,), inline=False, **PARALLEL)),
    "paper, tiles 3, 1": Variant(pm.Options.paper(tile_sizes=(3, 1), blas="never", inline=False, **PARALLEL)),
    "polymage, tiles 2, 7": Variant(pm.Options.polymage(tile_sizes=(2, 7), inline=False, **PARALLEL)),
}

LANGUAGE = {
    name: getattr(pm, name)
    for name in (
        *TYPES,
        *[
            "Parameter",
            "Variable",
            "Interval",
            "Matrix",
            "Vector",
            "Image",
            "Function",
            "Reduction",
            "Reduce",
            "Op",
            "Case",
            "Condition",
        ],
        *[
            "Select",
            "Cast",
            "Min",
            "Max",
            "Sin",
            "Cos",
            "Tanh",
            "Atan",
            "Exp",
            "Log",
            "Sqrt",
            "Abs",
            "Floor",
            "Ceil",
            "Sign",
            "Conj",
            "Real",
            "Imag",
        ],
    )
}


_evaluated: dict[tuple[int, int], list[Any]] = {}


def run_text(program: Program, names: dict[str, Any]) -> list[Any]:
    """Execute a program's text; its outputs."""
    exec(compile(f"{HEAD}\n{program.text}", f"<program {program.index}>", "exec"), names)
    return [names[output] for output in program.outputs]


def failures(programs: Sequence[Program], variant: Variant) -> list[str]:
    """Compile programs as one pipeline, run it, and describe what is wrong."""
    described: list[str] = []
    outputs: list[Any] = []
    usable = []
    for program in programs:
        try:
            outputs += run_text(program, dict(LANGUAGE))
            usable.append(program)
        except Exception as error:
            described.append(f"describing: {type(error).__name__}: {error}\n{program}")
    try:
        compiled = variant.compile(outputs)
    except Exception as error:
        if len(programs) == 1:
            return [f"compiling: {type(error).__name__}: {error}\n{programs[0]}"]
        return [text for program in programs for text in failures([program], variant)]
    arrays = {n: a for program in usable for n, a in program.arrays.items()}
    numbers = {n: v for program in usable for n, v in program.numbers.items()}
    arguments = call_arguments(compiled.signature, arrays, numbers)
    results, reference = compiled(**arguments), compiled.reference(**arguments)
    flat = dict(zip((o.name for o in outputs), _tuple(results), strict=True))
    interpreted = dict(zip((o.name for o in outputs), _tuple(reference), strict=True))
    for program in usable:
        described += _differences(program, flat, interpreted, variant)
    return described


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def call_arguments(signature: Any, arrays: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    """What a compiled pipeline is called with, out of everything that its programs know."""
    arguments: dict[str, Any] = {array.name: arrays[array.name] for array in signature.inputs}
    arguments.update((scalar.name, numbers[scalar.name]) for scalar in signature.scalars)
    arguments.update((size.name, numbers[size.name]) for size in signature.sizes if size.array < 0)
    return arguments


def expected(program: Program, trim: bool) -> dict[str, tuple[Any, Any, Any]]:
    """By the oracle, which runs a program once: values, error bounds and where there are any, of every output."""
    key = program.seed, program.index
    if key not in _evaluated:
        _evaluated[key] = run_text(program, Oracle(program.arrays, program.numbers).names())
    return {output.name: output.output(trim) for output in _evaluated[key]}


def _differences(
    program: Program, flat: dict[str, Any], interpreted: dict[str, Any], variant: Variant
) -> list[str]:
    found = []
    wanted = expected(program, variant.trim)
    for name in program.outputs:
        value, error, _ = wanted[name]
        for word, actual in (("interpreted", interpreted[name]), ("compiled", flat[name])):
            problem = difference(actual, value, error)
            if problem:
                found.append(f"{word} {name}: {problem}\n{program}")
    return found


def difference(actual: Any, value: Any, error: Any) -> str:
    """What distinguishes an array from the expected one, beyond twice the error bound; empty if nothing."""
    if actual.dtype != value.dtype or actual.shape != value.shape:
        return f"{actual.dtype}{list(actual.shape)}, expected {value.dtype}{list(value.shape)}"
    with np.errstate(all="ignore"):
        off = np.abs(actual - value) if value.dtype.kind in "fc" else (actual != value) * 1.0
        least = 4 * np.finfo(value.dtype).smallest_subnormal if value.dtype.kind in "fc" else 0
        same = (actual == value) | (np.isnan(actual) & np.isnan(value))
        wrong = ~same & np.isfinite(error) & ~(off <= 2 * error + least)
    if not np.any(wrong):
        return ""
    where = tuple(int(k) for k in np.argwhere(wrong)[0])
    return (
        f"{np.count_nonzero(wrong)} of {value.size} elements differ, at {where} {actual[where]!r}, "
        f"expected {value[where]!r} +- {error[where]:.3g}"
    )
