"""When library calls are quicker than the code beside them: predicted prices, and what each call asks."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product
from polymat.graph.stage import Accumulation, Stage
from polymat.idiom.call import Idiom
from polymat.idiom.callcosts import CallChoice, choice_of, share_of
from polymat.idiom.librarymodel import Kind, Libraries, LibraryModel
from polymat.idiom.profit import call_seconds, completed, is_whole_product, library_ratios
from polymat.lang.traverse import loads_in
from polymat.lang.types import real_part
from polymat.machine.grid import Grid
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.poly.domain import Domain
from polymat.tilesize.kernelplanner import kernel_operations
from polymat.tilesize.stagework import VECTOR_SHARE, points, stage_operations

TIE = 0.05  # of the time of loops: where calls gain nothing, loops fuse better
ALIKE = 0.98  # of the time: of ways predicted alike, that is taken which stores no second triangle
NEARLY = 0.99  # of the time of own code: calls that are only made where they are quicker come first
# Of the time of loops over a square those over a triangle take: half the points, in rows half as long (Zen 5:
# products and systems of 8 to 128 rows with OpenBLAS and MKL).
TRIANGLE = 0.7
# Times as long loops take along an index that goes down the columns of an array (Zen 5: symmetric matrices of
# 64 rows times vectors 8, of 512 rows 20).
COLUMNS = 8.0
SKEWED = 8  # times as long as the others: an extent of the shapes that are tried
# Of the shapes that are tried: at a single one it may be the prediction that errs, and own code that shares
# its work in the parts of calls is slower on several threads.
SEVERAL = 2
LARGE = 1024  # an extent of products that fill the caches, where libraries and own code differ by a tenth
CUBES = (2, 4, 8, 16, 32, 64, 128, 256)  # whose predicted times are compared, then those in between


@dataclass(frozen=True, slots=True)
class CallPrice:
    """The time of an operation in library calls, in units of one in vectorised loops.

    relative, alone: on all threads and on one.  trusted: whether calls are preferred for the reason alone
    that nothing was measured on the machine.  called: whether calls are what it is the measured time of.
    """

    relative: float
    alone: float
    trusted: bool
    called: bool


@dataclass(frozen=True, eq=False)
class CallPrices:
    """Predicted times of library calls, and of the loops or register blocks that compute the same.

    sizes: what is assumed of every size; given: the sizes that the user said something of.
    """

    pipeline: Pipeline
    machine: Machine
    sizes: Mapping[str, int]
    options: Options
    threads: int
    libraries: Libraries
    given: frozenset[str]

    def model(self, kind: Kind = "blas") -> LibraryModel | None:
        """The measured times of a library; a missing one is an error only where it is loaded."""
        found = _model(self.libraries, kind)
        return found if found is None or kind != "blas" else completed(found, self.machine)

    def ratio(self, idiom: Idiom, kernel: KernelPlan | None) -> Grid | None:
        """By what whole products by register blocks took longer than predicted, over the same of calls.

        None where they were not timed in both ways, or calls are of other things than these.
        """
        model = self.model()
        if model is None or kernel is None or kernel.measured is None:
            return None
        if not all(map(is_whole_product, idiom.calls)):
            return None
        calls = library_ratios(model, idiom.product.dtype.dtype)
        return None if calls is None else kernel.measured.over(calls, self.threads)

    def kernel_seconds(
        self, kernel: KernelPlan, sizes: Mapping[str, int], threads: int | None = None
    ) -> float:
        """Seconds of a product around register blocks, on all threads or on so many."""
        used = threads or self.threads
        return kernel_operations(kernel, sizes, used) / self.machine.peak_flops(kernel.element_bytes, used)

    def in_operations(self, seconds: float, product: Product, threads: int | None = None) -> float:
        """The time of an operation where all take so long, in units of that in vectorised loops."""
        peak = self.machine.peak_flops(real_part(product.dtype).size, threads or self.threads) * VECTOR_SHARE
        stages = map(self.pipeline.stage, product.stages)
        operations = sum(stage_operations(stage, self.sizes) for stage in stages)
        return seconds * peak / max(operations, 1.0)

    def of_plan(
        self,
        idiom: Idiom,
        flat: Stage,
        loops: LoopPlan,
        kernel: KernelPlan | None,
        parallel: str | None,
        ratio: Grid | None,
        *,
        asked: bool,
    ) -> CallPrice:
        """The time of an operation; of the quicker way where each call asks."""
        slow, preferred = loops.slowdown(self.threads), math.inf
        share = usual = 1.0
        if kernel is not None:
            share, usual = self._share(ratio), share_of(ratio)
            slow = self.in_operations(self.kernel_seconds(kernel, self.sizes), idiom.product)
            preferred = NEARLY * slow * alike(kernel)

        def price(relative: float) -> float:
            if relative < share * slow:
                return min(relative, preferred)
            return min(relative, NEARLY * slow) if asked else max(relative, slow) + TIE

        used = self._relative(idiom, parallel, self.threads), self._relative(idiom, None, 1)
        trusted = any(usual * slow <= each < share * slow for each in used)
        called = self._is_measured and used[0] < share * slow
        return CallPrice(price(used[0]), price(used[1]), trusted, called)

    def choice(self, idiom: Idiom, flat: Stage, loops: LoopPlan, ratio: Grid | None) -> CallChoice | None:
        """The choice that generated code takes at each call; None where it was taken before."""
        if self.options.blas == "always" or self._is_fixed(flat):
            return None
        flops = self.machine.peak_flops(real_part(flat.dtype).size, 1)
        operations = (
            stage_operations(flat, self.sizes)
            * loops.slowdown(1)
            * _share(flat, self._factors(flat, loops), self.sizes)
        )
        multiplications = max(sum(points(a.box, self.sizes) for a in flat.accumulations), 1.0)
        each = operations / (flops * VECTOR_SHARE * multiplications)
        share = self._share(ratio)
        return choice_of(idiom, self.model(), flops, each, share=share, ratio=ratio)

    def is_worth_asking(
        self, idiom: Idiom, kernel: KernelPlan | None, flat: Stage, ratio: Grid | None
    ) -> bool:
        """Whether the user said nothing of the sizes, and at several the calls are clearly quicker."""
        names = {name for low, high in flat.box for form in (low, high) for name in form.names()}
        if kernel is None or names & self.given:
            return False
        model, share = self.model(), self._share(ratio)
        teams = {1} if ratio is None else {1, self.threads}

        def gains(sizes: Mapping[str, int], used: int) -> bool:
            own = self.kernel_seconds(kernel, sizes, used)
            return call_seconds(idiom, self.machine, sizes, used, model) < share * own

        probes = [*_probes(tuple(self.sizes))]
        return any(sum(gains(sizes, used) for sizes in probes) >= SEVERAL for used in teams)

    def least(
        self,
        idiom: Idiom,
        flat: Stage,
        loops: LoopPlan,
        kernel: KernelPlan | None,
        ratio: Grid | None,
    ) -> float:
        """Multiplications from which the calls are quicker, found on cubes: every size the same."""
        if self.options.blas == "always" or self._is_fixed(flat):
            return 0.0
        peak = self.machine.peak_flops(real_part(flat.dtype).size, self.threads) * VECTOR_SHARE
        slow = loops.slowdown(self.threads)
        model, factors = self.model(), self._factors(flat, loops)
        share = 1.0 if kernel is None else self._share(ratio)
        speedup = peak / (self.machine.peak_flops(real_part(flat.dtype).size, 1) * VECTOR_SHARE)

        def pays(length: int) -> bool:
            cube = dict.fromkeys(self.sizes, length)
            other = stage_operations(flat, cube) * slow * _share(flat, factors, cube) / peak
            if kernel is not None:
                alone = self.kernel_seconds(kernel, cube, 1)  # the first that pay are not worth a team
                other = min(other, alone / speedup)
            return call_seconds(idiom, self.machine, cube, self.threads, model) < share * other

        length = _first(pays)
        if length is not None:
            cube = dict.fromkeys(self.sizes, length)
            return sum(points(a.box, cube) for a in flat.accumulations) if length > 2 else 0.0
        return float(CUBES[-1] ** 3)

    def _share(self, ratio: Grid | None) -> float:
        """Of the time of register blocks that calls must take to be preferred."""
        return share_of(ratio, measured=self._is_measured)

    @property
    def _is_measured(self) -> bool:
        return self.machine.calibration is not None

    def _relative(self, idiom: Idiom, parallel: str | None, used: int) -> float:
        """The time of an operation in the calls, in units of that in vectorised loops on so many threads."""
        threads = used if parallel is not None else 1
        seconds = call_seconds(idiom, self.machine, self.sizes, threads, self.model())
        return self.in_operations(seconds, idiom.product, used)

    def _factors(self, flat: Stage, loops: LoopPlan) -> list[float]:
        """How long loops over each of the sums of a stage take, of contiguous ones over the box around it."""
        triangles = _are_triangles(flat, self.pipeline.context)
        return [
            (TRIANGLE if half else 1.0) * (COLUMNS if _is_across(a, loops.vector) else 1.0)
            for a, half in zip(flat.accumulations, triangles, strict=True)
        ]

    def _is_fixed(self, flat: Stage) -> bool:
        """Whether no size is open, so that the choice is made now."""
        return not any(form.names() for low, high in flat.box for form in (low, high))


def alike(kernel: KernelPlan) -> float:
    """By what the time of register blocks is lowered beside that of others: those that mirror a triangle."""
    return ALIKE if kernel.contraction.mirror is not None else 1.0


@remembered
def _model(libraries: Libraries, kind: Kind) -> LibraryModel | None:
    try:
        return libraries.model(kind)
    except ToolchainError:
        return None


@remembered
def _are_triangles(flat: Stage, context: Domain) -> tuple[bool, ...]:
    """For each of a stage's sums whether it is over a part of a box."""
    return tuple(not added.domain.assume(context).is_box() for added in flat.accumulations)


def _share(flat: Stage, factors: Sequence[float], sizes: Mapping[str, int]) -> float:
    """The mean of the factors of a stage's sums, by the points of each."""
    boxes = [points(a.box, sizes) for a in flat.accumulations]
    added = sum(box * factor for box, factor in zip(boxes, factors, strict=True))
    return added / sum(boxes) if sum(boxes) > 0.0 else 1.0


def _is_across(added: Accumulation, vector: str | None) -> bool:
    """Whether an index moves along any but the last dimension of an array that is read."""
    loads = loads_in(added.expr)
    return any(vector in tuple(form.names()) for load in loads for form in load.indices[:-1])


def _probes(names: tuple[str, ...]) -> Iterator[Mapping[str, int]]:
    """Sizes to try: all alike, and one at a time longer or shorter."""
    for length in (*CUBES[4:], LARGE):
        cube = dict.fromkeys(names, length)
        yield cube
        if len(names) > 1:
            others = (SKEWED * length, max(length // SKEWED, CUBES[3]))
            yield from ({**cube, name: other} for name in names for other in others)


def _first(holds: Callable[[int], bool]) -> int | None:
    """The least length from which something holds, up to the last of CUBES; None where it never does."""
    for before, length in zip((1, *CUBES), CUBES, strict=False):
        if holds(length):
            between = range(before + 1, length)
            return before + 1 + bisect_left(between, True, key=holds)
    return None
