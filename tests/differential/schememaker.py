"""Programs for schemes, made under names of their own, with schemes drawn at random for their stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import polymat as pm
from polymat import Function, Int, Interval, Op, Reduce, Reduction
from polymat.lang.types import ScalarType
from tests.differential.microkernels import random_kernel
from tests.differential.schemes import random_scheme

Form = Any


@dataclass(frozen=True)
class Drawn:
    """A program: its outputs and inputs, a scheme for some of its stages, and the microkernels that these call."""

    outputs: list[Any]
    inputs: list[Any]
    extents: list[tuple[Form, ...]]
    schemes: dict[str, str]
    microkernels: tuple[pm.Microkernel, ...] = ()


class Maker:
    """Makes programs, under names of their own, and draws their schemes.

    lanes: of vectors of the type.
    """

    def __init__(self, rng: Random, name: str, dtype: ScalarType, lanes: int) -> None:
        self.rng, self.name, self.dtype, self.lanes = rng, name, dtype, lanes
        self.inputs: list[Any] = []
        self.extents: list[tuple[Form, ...]] = []
        self.microkernels: list[pm.Microkernel] = []

    def array(self, letter: str, *extents: Form) -> Any:
        """An input."""
        found = pm.Image(self.dtype, f"{letter}_{self.name}", list(extents))
        self.inputs.append(found)
        self.extents.append(extents)
        return found

    def function(self, letter: str, spans: Mapping[Any, tuple[Form, Form]], *value: Any) -> Any:
        """A stage at the points from the first to the last of every dimension."""
        found = Function(([*spans], [span(*each) for each in spans.values()]), self.dtype, self.stage(letter))
        found.defn = [*value]
        return found

    def sum(
        self,
        letter: str,
        spans: Mapping[Any, tuple[Form, Form]],
        summed: Mapping[Any, tuple[Form, Form]],
        value: Any,
        op: Op = Op.Sum,
        start: Any = None,
    ) -> Any:
        """A sum, or another reduction."""
        own, every = [span(*each) for each in spans.values()], {**spans, **summed}
        more = [span(*each) for each in every.values()]
        found = Reduction(([*spans], own), ([*every], more), self.dtype, self.stage(letter), start)
        found.defn = [Reduce(found(*spans), value, op)]
        return found

    def stage(self, letter: str) -> str:
        """The name of a stage."""
        return f"{letter}_{self.name}"

    # ---- schemes ----

    def contraction(
        self, out: Any, result: str, summed: str, operands: Mapping[Any, Sequence[str]], *before: Any
    ) -> Drawn:
        """A contraction in loops of its own."""
        named = {array.name: tuple(dims) for array, dims in operands.items()}
        text = random_scheme(self.rng, tuple(result), tuple(summed), named, self.lanes)
        kernel = random_kernel(Random(self.name), self.name, text, summed, [*named.values()], self.dtype)
        if kernel is not None:
            self.microkernels.append(kernel)
            text = f"{text[:-1]}, Call({kernel.name})]"
        if self.rng.random() < 0.25:
            text = self._shared_out(out.name, result, text)
        return Drawn([*before, out], self.inputs, self.extents, {out.name: text})

    def _shared_out(self, name: str, result: str, text: str) -> str:
        """The scheme within tiles that threads share."""
        dims = self.rng.sample(result, self.rng.randint(1, min(3, len(result))))
        tiles = [f"T({dim}, {self.tile(40, 41, 56)})" for dim in dims]
        atoms = text[1:-1] if "Par" not in text else text[text.index("), ") + 3 : -1]
        return atoms_text([f"fuse({name})", f"Par({'*'.join(dims)})", *tiles, atoms])

    def tile(self, *sizes: int) -> int:
        """One of these sizes of tiles around blocks of four vectors of up to eight lanes, more for longer ones."""
        return self.rng.choice(sizes) * max(1, self.lanes // 8)

    def loops(self, out: Any, result: str, summed: str = "", *, any_order: bool = True) -> Drawn:
        """A stage by itself, whose loops may be tiled; summed: what it sums over."""
        tiles, order = self._tiles(result), self._order(result, summed, any_order)
        atoms = [*tiles, *(f"R({dim})" for dim in order)]
        shared = shared_by(tiles) if tiles else self.rng.choice(result)
        whole = self.rng.random() < 0.6
        outer = [tile[2] for tile in tiles] or ([shared] if whole else [])
        long = [dim for dim in order if f"T({dim}, 1)" not in tiles]
        if long and long[0] in outer and len(order) > 1 and self.rng.random() < 0.6:
            size = next((int(tile[5:-1]) for tile in reversed(tiles) if tile[2] == long[0]), 4)
            atoms.append(f"U({long[0]}, {self.rng.randint(2, min(4, size))})")
        last = order[-1]
        first = min((order.index(dim) for dim in summed), default=len(order))
        in_memory = any(dim in result for dim in order[first:])
        if (last in result or not in_memory) and self.rng.random() < 0.7:
            atoms.append(f"V({last})")
        if not tiles and not whole:
            return Drawn([out], self.inputs, self.extents, {out.name: atoms_text(atoms)})
        fused = [f"fuse({out.name})"] if tiles and self.rng.random() < 0.5 else []
        return Drawn(
            [out], self.inputs, self.extents, {out.name: atoms_text([*fused, f"Par({shared})", *atoms])}
        )

    def _tiles(self, result: str) -> list[str]:
        if self.rng.random() < 0.4:
            return []
        dims = self.rng.sample(result, self.rng.randint(1, len(result)))
        return self._in_tiles([f"T({dim}, {self.rng.choice([1, 2, 3, 5, 8, 13, 40])})" for dim in dims])

    def _in_tiles(self, tiles: list[str]) -> list[str]:
        """The tiles, now and then with larger ones of some of their dimensions around."""
        rng = Random(f"{self.name} {tiles}")
        around = [tile for tile in tiles if rng.random() < 0.7] if rng.random() < 0.4 else []
        return [
            f"{tile[:5]}{int(tile[5:-1]) * rng.randint(2, 5)})" for tile in rng.sample(around, len(around))
        ] + tiles

    def _order(self, result: str, summed: str, any_order: bool) -> list[str]:
        usual = [*result, *summed]
        if not any_order or self.rng.random() < 0.2:
            return usual
        return self.rng.sample(usual, len(usual))

    def group(self, stages: Sequence[Any], tiled: str, own: Mapping[str, str] | None = None) -> Drawn:
        """Stages that share tiles along some of these dimensions; own: of some stages, what loops they have."""
        names = [stage.name for stage in stages]
        last = names[-1]
        dims = self.rng.sample(tiled, self.rng.randint(1, len(tiled)))
        atoms = self._in_tiles([f"T({dim}, {self.rng.choice([1, 2, 3, 4, 6, 7, 16, 33])})" for dim in dims])
        schemes: dict[str, str] = {}
        for name, loops in (own or {}).items():
            if self.rng.random() < 0.5:
                order = self.rng.sample(loops, len(loops))
                text = [f"R({dim})" for dim in order]
                text += [f"V({order[-1]})"] if self.rng.random() < 0.6 else []
                atoms, text = (atoms + text, []) if name == last else (atoms, text)
                schemes |= {name: atoms_text(text)} if text else {}
        schemes[last] = atoms_text([f"fuse({', '.join(names[:-1])})", *atoms])
        return Drawn([stages[-1]], self.inputs, self.extents, schemes)


def shared_by(tiles: Sequence[str]) -> str:
    """The dimensions whose tiles threads share: the first ones, as long as none comes again."""
    dims = [tile[2] for tile in tiles]
    again = next((k for k, dim in enumerate(dims) if dim in dims[:k]), len(dims))
    return "*".join(dims[:again])


def span(low: Form, high: Form) -> Interval:
    return Interval(Int, low, high)


def atoms_text(atoms: Sequence[str]) -> str:
    return f"[{', '.join(atoms)}]"
