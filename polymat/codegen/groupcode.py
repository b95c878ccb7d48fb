"""The C functions of a group: its nests or tiles, and where there are several groups one that runs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from polymat.codegen.c.ctree import (
    Block,
    CCall,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    Id,
    Stmt,
    names_in,
)
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.memory.pads import ThreadScratch
from polymat.codegen.tilerun import TileCode
from polymat.dataclass import dataclass
from polymat.plan.tile import Plan


@dataclass(frozen=True, slots=True, eq=False)
class GroupCode:
    """The C functions of one group: nests to be run one after the other, or tiles.

    strip: the nest over some of the slices that wait (`polymat.graph.waits`).  within: the number of the
    group whose strips compute those of this one, too; 0 where none do.
    """

    number: int
    plan: Plan
    nests: tuple[NestFunction, ...]
    tiles: TileCode | None
    strip: NestFunction | None = None
    within: int = 0

    @property
    def functions(self) -> tuple[CFunction, ...]:
        """All of them, each after those that it calls."""
        if self.tiles is not None:
            return self.tiles.functions
        nests = self.nests if self.strip is None or self.within else (*self.nests, self.strip)
        return tuple(function for nest in nests for function in nest.functions)

    @property
    def name(self) -> str:
        """The name of the function that runs the group, where there is one."""
        return f"_pm_group_{self.number}"

    @property
    def scratch(self) -> ThreadScratch:
        """The memory that each thread needs beside the arrays."""
        if self.tiles is not None:
            return self.tiles.scratch
        return ThreadScratch(self.number, tuple(pad for nest in self.nests for pad in nest.pads))

    @property
    def memory(self) -> tuple[ThreadScratch, ...]:
        """That, and what its threads share."""
        found = (self.scratch,) if self.tiles is None else (self.tiles.scratch, self.tiles.shared)
        return tuple(scratch for scratch in found if scratch.pads)

    def apart(
        self, statements: Sequence[Stmt], known: Mapping[str, str]
    ) -> tuple[tuple[CFunction, ...], Sequence[Stmt]]:
        """Statements that run the group as a function, and its call; as they are where they are short.

        known: what there is to be handed to it: names, with the types of parameters.

        before:  { first = 0; last = N; ... nest(A, B, first, last); }
        after:   static void group(const double *A, double *B, const ptrdiff_t N) { ... };  group(A, B, N);
        """
        used = names_in(statements)
        parameters = tuple(CParameter(ctype, name) for name, ctype in known.items() if name in used)
        if not any(isinstance(each, Block) for each in statements):
            return (), statements
        body = statements[0].body if isinstance(statements[0], Block) and len(statements) == 1 else statements
        comment = f"group {self.number}: {self.plan}"
        function = CFunction("void", self.name, parameters, tuple(body), comment, runs_others=True)
        return (function,), [Evaluate(CCall(self.name, tuple(Id(each.name) for each in parameters)))]


def known_names(statements: Iterable[Stmt], parameters: Iterable[CParameter]) -> dict[str, str]:
    """The names of parameters and of what is declared in statements, with the types of parameters."""
    known = {each.name: each.ctype for each in parameters}
    return known | {each.name: _as_parameter(each.ctype) for each in statements if isinstance(each, Declare)}


def _as_parameter(ctype: str) -> str:
    """The type of a variable as that of a parameter, which is not changed."""
    if "*" in ctype:
        return ctype.removesuffix("const ")
    return ctype if ctype.startswith("const ") else f"const {ctype}"
