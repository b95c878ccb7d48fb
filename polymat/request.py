"""Everything that one compilation is asked for: what to compute, and what for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from polymat.dataclass import dataclass
from polymat.graph.selection import TunedChoice
from polymat.idiom.librarymodel import Libraries
from polymat.lang.condition import Condition
from polymat.lang.expr import Parameter
from polymat.lang.function import Function, Input
from polymat.machine.model import Machine
from polymat.options import DEFAULTS, Options


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """The request of one compilation: what `compile` was asked for, and the machine and libraries it is for.

    name: of the C function.  inputs: the arguments in order; None for the order of first use.
    sizes: exact ones.  estimates: typical ones, by name.  constraints: single comparisons.
    fortran: inputs that lie column by column.  strided: inputs whose rows may lie apart.
    machine: as the compiler's flags leave it, see `under_flags`.
    found: decisions that were found by measuring, which are carried out instead of being made.
    """

    outputs: Sequence[Function]
    name: str
    machine: Machine
    libraries: Libraries
    inputs: Sequence[Input | Parameter] | None = None
    sizes: Mapping[Parameter, int] | None = None
    estimates: Mapping[str, int] = field(default_factory=dict)
    constraints: Sequence[Condition] = ()
    trim: bool = False
    fortran: Sequence[Input] = ()
    strided: Sequence[Input] = ()
    options: Options = DEFAULTS
    found: TunedChoice | None = None
