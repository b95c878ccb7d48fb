"""What the file of one PolyBench kernel provides, and the notation those files share."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

import polymat as pm

Sizes = Mapping[str, int]
Array = npt.NDArray[Any]
Arrays = dict[str, Array]

DATASETS = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")
ALPHA = 1.5
BETA = 1.2
DOUBLE = 8


@dataclass(frozen=True, slots=True)
class Description:
    """A pipeline as `polymat.compile` takes it: results, argument order, parameters by name, their limits."""

    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    sizes: tuple[Any, ...]
    constraints: tuple[Any, ...] = ()

    def compile(self, name: str, *, estimates: Sizes | None = None, **options: Any) -> Any:
        """Compile, with `estimates` given by the names of the sizes."""
        if estimates is not None:
            options["estimates"] = {size: estimates[size.name] for size in self.sizes}
        outputs = self.outputs[0] if len(self.outputs) == 1 else list(self.outputs)
        return pm.compile(
            outputs, name=name, inputs=list(self.inputs), constraints=self.constraints, **options
        )


@dataclass(frozen=True, slots=True)
class Kernel:
    """A PolyBench problem: its sizes, its arrays, its solution in NumPy and in polymat.

    builds: ways to describe the pipeline, by a word for each.
    inputs: PolyBench's initial arrays for given sizes, in the argument order of the pipelines.
    reference: the results, by name in dump order, as a NumPy user would compute them; it takes the sizes
    named by `counts` behind the arrays.
    flops: useful operations; traffic: bytes that must be read or written at least once.
    roundings: operations on the longest path to one result element, the n of the error bound gamma_n.
    scalars: run-time scalars, passed by name.
    inplace: results that PolyBench writes over an input, by the name of that input.
    unread: inputs of which the entries on and above the given diagonal must never be read.
    compute_bound: whether flops rather than bytes are the figure to quote.
    counts: sizes that no array shows, passed by name.
    dumped: the part of a result that PolyBench prints, by its name; all of others.
    sound: the parts of results that rounding does not turn into noise, where not all are.
    dtype: of the results.
    summed: whether a result is a sum of products, so that the same on magnitudes bounds its error; where it
    is not, the largest magnitude of a result does.
    """

    name: str
    sizes: Mapping[str, Sizes]
    builds: Mapping[str, Callable[[], Description]]
    inputs: Callable[[Sizes], Arrays]
    reference: Callable[..., Arrays]
    flops: Callable[[Sizes], int]
    traffic: Callable[[Sizes], int]
    roundings: Callable[[Sizes], int]
    scalars: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    inplace: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unread: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    compute_bound: bool = True
    counts: tuple[str, ...] = ()
    dumped: Mapping[str, Callable[[Array], Array]] = field(default_factory=lambda: MappingProxyType({}))
    sound: Callable[[Arrays], Arrays] = lambda results: results
    dtype: Any = np.float64
    summed: bool = True

    @property
    def identifier(self) -> str:
        """The name where a C identifier is needed."""
        name = self.name.replace("-", "_")
        return name if name.isidentifier() else f"k{name}"

    def counted(self, sizes: Sizes) -> Mapping[str, int]:
        """The sizes that no array shows."""
        return {name: sizes[name] for name in self.counts}

    def solve(self, arrays: Arrays, sizes: Sizes) -> Arrays:
        """The results of the reference."""
        return self.reference(arrays, *self.counted(sizes).values())

    def compile(self, way: str = "", *, estimates: Sizes | None = None, **options: Any) -> Any:
        """Compile the description written in `way` (the first one listed when empty)."""
        way = way or next(iter(self.builds))
        return self.builds[way]().compile(self.identifier, estimates=estimates, **options)

    def poisoned(self, arrays: Arrays) -> Arrays:
        """Copy the inputs, with NaN in the entries that must never be read."""
        copies = {name: array.copy() for name, array in arrays.items()}
        for name, diagonal in self.unread.items():
            copies[name][np.triu_indices(len(copies[name]), diagonal)] = np.nan
        return copies

    def printed(self, results: Arrays) -> Arrays:
        """What PolyBench prints of the results."""
        return {name: self.dumped.get(name, np.asarray)(array) for name, array in results.items()}

    def bounds(self, arrays: Arrays, expected: Arrays, sizes: Sizes) -> Arrays:
        """How far rounding may take each element of the results."""
        unit = 0.0 if np.dtype(self.dtype).kind == "i" else float(np.finfo(self.dtype).eps)
        if self.summed:
            magnitudes = self.solve({name: np.abs(array) for name, array in arrays.items()}, sizes)
        else:
            magnitudes = {
                name: np.full(a.shape, np.max(np.abs(a), initial=0.0)) for name, a in expected.items()
            }
        return {name: self.roundings(sizes) * unit * array for name, array in magnitudes.items()}

    def error(self, actual: Array | Sequence[Array], arrays: Arrays, sizes: Sizes) -> float:
        """Largest error in units of what rounding can explain; above 1 something is wrong."""
        names = self.solve(arrays, sizes)
        found = actual if isinstance(actual, tuple | list) else (actual,)
        results, expected = self.sound(dict(zip(names, found, strict=True))), self.sound(names)
        bounds = self.bounds(arrays, expected, sizes)
        worst = 0.0
        for name, right in expected.items():
            off = np.abs(results[name] - right) / np.maximum(bounds[name], np.finfo(np.float64).tiny)
            if not np.all(np.isfinite(off)):
                return float("inf")
            worst = max(worst, float(np.max(off, initial=0.0)))
        return worst


def size_table(parameters: str, **rows: tuple[int, ...]) -> Mapping[str, Sizes]:
    """Name the numbers of each dataset: size_table("M N", MINI=(20, 30), ...)."""
    names = parameters.split()
    return {dataset: dict(zip(names, row, strict=True)) for dataset, row in rows.items()}


def extents(sizes: Sizes, names: str) -> tuple[int, ...]:
    """Return the sizes of those names, in the order of the names."""
    return tuple(sizes[name] for name in names.split())


def index_grid(*extents: int) -> tuple[Array, ...]:
    """Index arrays that broadcast to the extents, in exact integers."""
    return tuple(np.ogrid[tuple(slice(0, extent) for extent in extents)])


def counter(extent: int) -> Array:
    """Return the integers 0 to extent-1, exactly."""
    return np.arange(extent, dtype=np.int64)


def parameters(names: str) -> tuple[pm.Parameter, ...]:
    """Size parameters, in the order of their names."""
    return tuple(pm.Parameter(pm.Int, name) for name in names.split())


def scalar_parameters() -> tuple[pm.Parameter, pm.Parameter]:
    """Return alpha and beta."""
    return pm.Parameter(pm.Double, "alpha"), pm.Parameter(pm.Double, "beta")


def variables(names: str) -> tuple[pm.Variable, ...]:
    """Index variables, in the order of their names."""
    return tuple(pm.Variable(pm.Int, name) for name in names.split())


def upto(extent: Any) -> pm.Interval:
    """Indices 0 to extent-1."""
    return pm.Interval(pm.Int, 0, extent - 1)


def inside(extent: Any, *indices: Any) -> pm.Condition:
    """Where no index is the first or the last one."""
    conditions = [pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", extent - 2) for i in indices]
    return functools.reduce(operator.and_, conditions)
