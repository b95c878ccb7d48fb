"""The plans of groups that a library computes, or blocks of ours in the place of one."""

from __future__ import annotations

from typing import Literal

from polymat.dataclass import dataclass
from polymat.idiom.call import Idiom
from polymat.idiom.callcosts import CallChoice
from polymat.idiom.parts import Least
from polymat.idiom.recursion import Recursion
from polymat.idiom.recursiveends import Ending
from polymat.idiom.transform import Filter, Transform
from polymat.plan.kernel import KernelPlan
from polymat.plan.nest import FlatPlan, NestPlan, OwnWay
from polymat.product.ways import Way


@dataclass(frozen=True, slots=True, eq=False)
class LibraryPlan(FlatPlan):
    """A group that a library computes; loops: the plan of the same stage where none of its routines does."""

    loops: NestPlan

    def __str__(self) -> str:
        text = f"{'+'.join(self.group.stages)}: {', '.join(self.routines)}"
        return f"{text} omp({self.parallel})" if self.parallel else text


@dataclass(frozen=True, slots=True, eq=False)
class CallPlan(LibraryPlan):
    """Calls of BLAS routines.

    idiom: the calls.  The loops do what no routine does: empty ranges, a scale of 0 (which must not hide a
    NaN), extents beyond 32 bits, and problems that they are quicker at: those of fewer than `least` points,
    and of `choice`, where there is one, those beyond ALMOST_NOTHING points that it predicts so.
    called: whether its predicted time is what calls were measured to take, and not that of the loops.
    """

    idiom: Idiom
    least: float
    choice: CallChoice | None = None
    called: bool = False

    @property
    def added_to(self) -> tuple[str, ...]:
        """The result, where calls add to something."""
        return self.group.stages[-1:] if self.called and self.idiom.start else ()

    @property
    def copied_first(self) -> frozenset[str]:
        """Libraries pack the matrices of a product, and stream those that meet vectors through.

        Where own code would copy as well, in blocks for the caches, neither has it in its price.
        """
        alike = isinstance(self.loops, KernelPlan) and self.loops.way is Way.BLOCKED
        counts = self.called and not alike
        packing = (call for call in self.idiom.calls if counts and call.row.level == 3)
        return frozenset(operand.source for call in packing for operand in call.operands)

    @property
    def beside(self) -> tuple[str, ...]:
        """The one of the register blocks beside the calls that threads share as well."""
        return self.loops.beside

    @property
    def library(self) -> Literal["blas", "fft", ""]:
        """BLAS, as `Options.blas` has it."""
        return "blas"

    @property
    def read_late(self) -> frozenset[str]:
        """The operands of calls; not one that a routine overwrites, unless loops may begin again from it."""
        last = (
            call.operands[:-1] if call.overwrites and not call.row.spreads else call.operands
            for call in self.idiom.calls
        )
        return frozenset(operand.source for operands in last for operand in operands)

    @property
    def routines(self) -> tuple[str, ...]:
        """The BLAS routines that this plan calls, without the letter of the type."""
        return tuple(call.routine for call in self.idiom.calls)


@dataclass(frozen=True, slots=True, eq=False)
class TransformPlan(LibraryPlan):
    """A sum as Fourier transforms.

    transform: what is computed.  measured: whether the library may try its plans out.  least: from how many
    points on it is computed in parts.  The loops are for empty ranges, and for where there is no plan.
    """

    transform: Transform
    measured: bool
    least: Least

    @property
    def library(self) -> Literal["blas", "fft", ""]:
        """FFTW, as `Options.fft` has it."""
        return "fft"

    @property
    def by_definition(self) -> bool:
        """A transform computes in another way than by the sums, and reads and writes the same."""
        return False

    @property
    def counts_as_defined(self) -> bool:
        """It needs fewer."""
        return False

    @property
    def routines(self) -> tuple[str, ...]:
        """The library routines that this plan calls: transforms."""
        return ("fft",)


@dataclass(frozen=True, slots=True, eq=False)
class FilterPlan(OwnWay, FlatPlan):
    """A filter of one dimension around register blocks.

    filter: what is computed; its result and its signal are contiguous along the filtered dimension.
    lanes, rows, taps: of a register block (`codegen.filterblocks`).  width: lanes that a register holds.  The
    loops are for the results at the edges, and for rows shorter than a block.
    """

    filter: Filter
    loops: NestPlan
    lanes: int
    rows: int
    taps: int
    width: int

    @property
    def by_definition(self) -> bool:
        """A block of results reads its samples once, which models of loops do not know."""
        return False

    def accumulation(self, stage: str) -> str:
        """A block of results is summed at once."""
        del stage
        return "private"

    def __str__(self) -> str:
        text = f"{'+'.join(self.group.stages)}: {self.kind}"
        return f"{text} omp({self.parallel})" if self.parallel else text


@dataclass(frozen=True, slots=True, eq=False)
class RecursivePlan(OwnWay):
    """A recursive filter, or several in a row whose results between them have no array, block by block.

    recursion: what is computed.  result: the stage that gets the last results, by its indices for those of
    the recurrence.  endings: stages that get the last samples of every signal.  lanes: samples side by
    side, of which a register holds `width`.  relative: the time of an operation of the recurrence, in units
    of that in a vectorised loop.
    """

    recursion: Recursion
    result: str
    indices: tuple[str, ...]
    endings: tuple[Ending, ...]
    lanes: int
    width: int
    relative: float

    @property
    def absorbed(self) -> tuple[str, ...]:
        """The chain, which has no array."""
        name = self.recursion.stage.name
        return () if name == self.result else (name,)

    @property
    def read_back(self) -> tuple[str, ...]:
        """A filter without a chain reads its own results, where it has just computed them."""
        name = self.recursion.stage.name
        return (name,) if name == self.result else ()

    @property
    def copied_first(self) -> frozenset[str]:
        """Samples are copied into a block and results out of it; meanwhile no section is computed."""
        return frozenset((self.recursion.signal.name, self.result))

    def slowdown(self, threads: int) -> float:
        """How many times slower than in a vectorised loop an operation is."""
        del threads
        return self.relative
