"""The functions that a library exports: unpack the arguments, run the groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from polymat.codegen.c.abi import LIBRARY_MISSING, OK, OUT_OF_MEMORY, SCALAR_SLOT_BYTES, Size
from polymat.codegen.c.affineforms import affine_expr
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Note,
    Return,
    Stmt,
    Subscript,
    exported,
    names_in,
)
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.groupcode import GroupCode, known_names
from polymat.codegen.loops.work import stage_work, times_extents
from polymat.codegen.memory.kept import FREE, for_the_first, kept_buffers, pointers
from polymat.codegen.memory.pads import ThreadScratch, place
from polymat.codegen.memory.storage import Buffer
from polymat.codegen.nestshares import Shares, least_worth
from polymat.codegen.routines.librarylinks import routines_of
from polymat.codegen.smallcalls import Asking, SmallCalls, deciding_sizes, small_bound
from polymat.codegen.steprows import rows_function
from polymat.codegen.valuechecks import ValueChecks
from polymat.codegen.waitingrows import SliceNests, slices_function
from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.graph.pipeline import Pipeline
from polymat.graph.skewed import Skews
from polymat.lang.affine import Affine
from polymat.model.team import TeamCost
from polymat.options import Options
from polymat.plan.nest import NestPlan

ENTRY_PARAMETERS = (
    CParameter("void *const *", "_pm_arrays"),
    CParameter("const ptrdiff_t *", "_pm_sizes"),
    CParameter("const void *", "_pm_scalars"),
    CParameter("int", "_pm_threads"),
)


def clock(number: int, needs: set[Need], *, clocked: bool) -> list[Stmt]:
    """Note when a group or section ends, by its number, or when the first one begins, if any of it is."""
    if not clocked:
        return []
    needs.add(Piece.CLOCK)
    return [Evaluate(CCall("_pm_group_end", (Literal(str(number)),)))]


def argument(array: str, number: int, needs: set[Need], *, within: bool) -> CExpr:
    """The element of an array of arguments, which are known where the call is a part of another one."""
    element = Subscript(Id(array), Literal(str(number)))
    if within:
        return element
    needs.add(Piece.ARGUMENT)
    return CCall("_PM_ARGUMENT", (element,))


@dataclass(frozen=True)
class Entry:
    """Writes `_pm_entry` and `_pm_work`.

    slots: the arrays of the workspace; those of one slot share memory.  kept: stages of the first call.
    clocked: the end of each group is noted, for an audit; calls with small sizes are like others then.
    within: calls are parts of others.
    """

    pipeline: Pipeline
    storage: dict[str, Buffer]
    slots: tuple[tuple[Buffer, ...], ...]
    names: Names
    needs: set[Need]
    options: Options
    cost: TeamCost
    kept: frozenset[str] = frozenset()
    clocked: bool = False
    within: bool = False

    @property
    def worth(self) -> float:
        """The least work of a call that any of its groups may share out to threads."""
        return least_worth(self.cost.least, self.options)

    def small_calls(self, groups: Sequence[GroupCode], sizes: Sequence[Size]) -> SmallCalls | None:
        """The calls with small sizes that are known to need no team and little memory; None without any."""
        if self.clocked or any(each.values is not None and not each.checked for each in self.pipeline.inputs):
            return None
        shares = self._shares
        found: list[Asking] = []
        for group in groups:
            plan = group.plan
            pads = (*group.tiles.pads, *group.tiles.ahead) if group.tiles is not None else ()
            if not plan.is_own_code or pads or self._is_kept(group):
                return None
            shared = group.tiles is not None or any(nest.ranges or nest.pieces for nest in group.nests)
            stages = tuple(map(self.pipeline.stage, plan.group.stages)) if shared else ()
            found.append(Asking(stages, shares.speed(plan), group.nests))
        named = deciding_sizes(found, self.slots, [size.name for size in sizes])
        runs = [each for group in groups for each in ([group.tiles] if group.tiles else group.nests)]
        bound = small_bound(shares, found, self.slots, named) if not routines_of(self.needs) else 0
        return SmallCalls(bound, named, tuple(runs), shares, self.slots) if bound else None

    @property
    def _shares(self) -> Shares:
        return Shares(self._size, self.needs, self.options, self.cost)

    def functions(
        self, groups: Sequence[GroupCode], sizes: Sequence[Size], small: SmallCalls | None = None
    ) -> tuple[CFunction, ...]:
        """`_pm_entry`, behind what runs groups for it where there are several."""
        if small is not None and not small.sizes:
            return (self._entry([*small.branch(self.names)], self.unpack(sizes)),)
        kept = kept_buffers(self.storage)
        body = pointers(kept, self.names, self.needs) if kept else []
        scratch = [memory for group in groups for memory in group.memory]
        if self.slots or scratch:
            body += self._workspace(scratch)
        arguments = self.unpack(sizes)
        rows = next((nest.checked for group in groups for nest in group.nests if nest.checked), None)
        leave, team = self._leaving(), self._shares.team
        checks = ValueChecks(self.pipeline, self.names, self.needs, self._size, team, leave, rows)
        give: tuple[Stmt, ...] = (FREE,) if kept else ()
        if self.slots or scratch:
            give = (Evaluate(CCall("_pm_workspace_give", (Id("_pm_workspace"),))), *give)
        known = known_names([*arguments, *checks.before(), *body], ENTRY_PARAMETERS)
        apart, run = self._groups(groups, known, [*checks.behind(give)])
        if routines_of(self.needs):
            missing = CBinary("==", CCall("_pm_routines_ready", ()), Literal("0"))
            body.insert(0, If(missing, (Return(Literal(str(LIBRARY_MISSING))),)))
        body = [*checks.before(), *body, *run, *give, *leave, Return(Literal(str(OK)))]
        if small is not None:
            body = [*small.branch(self.names), *body]
        return (*apart, self._entry(body, arguments))

    def _entry(self, body: Sequence[Stmt], arguments: Sequence[Declare]) -> CFunction:
        """`_pm_entry`, with those of its arguments that the body needs."""
        used = names_in(body)
        unpacked = [s for s in arguments if s.name in used]
        ignored = [p.name for p in ENTRY_PARAMETERS if p.name not in used | names_in(unpacked)]
        silent = [Evaluate(Cast("void", Id(name))) for name in ignored]
        return exported("int", "_pm_entry", ENTRY_PARAMETERS, (*unpacked, *silent, *body))

    def rows_function(self, groups: Sequence[GroupCode], sizes: Sequence[Size], order: Skews) -> CFunction:
        """`_pm_rows`: some rows of each nest."""
        nests = [nest for group in groups for nest in group.nests]
        return rows_function(nests, order, self._size, self.unpack, sizes, self.needs)

    def slices_function(self, groups: Sequence[GroupCode], sizes: Sequence[Size]) -> CFunction:
        """`_pm_rows`: some slices of each nest that has any."""
        nests = [
            SliceNests(nest, group.strip, done=bool(group.within)) for group in groups for nest in group.nests
        ]
        assert self.pipeline.waiting is not None
        wide = self.pipeline.waiting.wide
        return slices_function(nests, wide, self._size, self.unpack, sizes, self.needs)

    def _leaving(self) -> tuple[Stmt, ...]:
        """Give the threads back that were weighed, at the end of a call or of the checks of its arguments."""
        if self.options.parallel_threshold is not None or self.within:
            return ()
        several = CBinary(">", Id("_pm_threads"), Literal("1"))
        return (If(several, (Evaluate(CCall("_pm_team_leave", ())),)),)

    def _groups(
        self, groups: Sequence[GroupCode], known: Mapping[str, str], behind: Sequence[Stmt]
    ) -> tuple[list[CFunction], list[Stmt]]:
        """What runs the groups, some of them in the first call alone, and functions of single ones.

        behind: what follows the nest that checks its own rows.
        """
        functions: list[CFunction] = []
        once: list[Stmt] = []
        always = clock(0, self.needs, clocked=self.clocked)
        for group in groups:
            run: Sequence[Stmt] = self._group(group)
            if len(groups) > 1:
                made, run = group.apart(run, known)
                functions += made
            noted = [Note(f"group {group.number}: {group.plan}"), *run]
            noted += behind if any(nest.checked for nest in group.nests) else ()
            if self._is_kept(group):
                once += noted
            else:
                always += [*noted, *clock(group.number, self.needs, clocked=self.clocked)]
        return functions, [*([for_the_first(once)] if once else []), *always]

    def _is_kept(self, group: GroupCode) -> bool:
        return not self.kept.isdisjoint(group.plan.group.stages)

    def unpack(self, sizes: Sequence[Size]) -> list[Declare]:
        """The arguments of a call, by their names."""
        arrays = [array.name for array in self.pipeline.inputs] + list(self.pipeline.outputs)
        statements: list[Declare] = []
        for k, name in enumerate(arrays):
            buffer = self.storage[name]
            const = "const " if buffer.place == "input" else ""
            pointer = argument("_pm_arrays", k, self.needs, within=self.within)
            statements.append(
                Declare(f"{const}{buffer.dtype.c} *const ", self.names.get("array", name), pointer)
            )
        statements += self._unpack_sizes(sizes)
        for k, scalar in enumerate(self.pipeline.scalars):
            slot = CBinary("+", Cast("const char *", Id("_pm_scalars")), Literal(str(SCALAR_SLOT_BYTES * k)))
            value = CUnary("*", Cast(f"const {scalar.dtype.c} *", Cast("const void *", slot)))
            statements.append(
                Declare(f"const {scalar.dtype.c}", self.names.get("scalar", scalar.name), value)
            )
        return statements

    def _unpack_sizes(self, sizes: Sequence[Size]) -> list[Declare]:
        return [
            Declare(
                "const ptrdiff_t",
                self.names.get("size", size.name),
                argument("_pm_sizes", k, self.needs, within=self.within),
            )
            for k, size in enumerate(sizes)
        ]

    def _workspace(self, scratch: list[ThreadScratch]) -> list[Stmt]:
        """Lay the slots of the temporaries out one after the other, each on its own cache line."""
        self.needs.update({Piece.WORKSPACE, Piece.PLACE})
        statements: list[Stmt] = [Declare("size_t", "_pm_bytes", Literal("0"))]
        for slot in self.slots:
            size = self._bytes(slot[0])
            for buffer in slot[1:]:
                size = CCall("__builtin_fmax", (size, self._bytes(buffer)))
            statements.append(Declare("const size_t", f"_pm_at_{slot[0].name}", place("_pm_bytes", size)))
        for threads in scratch:
            statements += threads.reserve()
        take = CCall("_pm_workspace_take", (Id("_pm_bytes"),))
        statements.append(Declare("char *const ", "_pm_workspace", take))
        give_up = [FREE] if kept_buffers(self.storage) else []
        statements.append(
            If(
                CBinary("==", Id("_pm_workspace"), Literal("0")),
                (*give_up, Return(Literal(str(OUT_OF_MEMORY)))),
            )
        )
        for slot in self.slots:
            for buffer in slot:
                at = CBinary("+", Id("_pm_workspace"), Id(f"_pm_at_{slot[0].name}"))
                pointer = Cast(f"{buffer.dtype.c} *", Cast("void *", at))
                name = self.names.get("array", buffer.name)
                statements.append(Declare(f"{buffer.dtype.c} *const ", name, pointer))
        return statements

    def _bytes(self, buffer: Buffer) -> CExpr:
        """The size of an array, at run time."""
        return times_extents(buffer.dtype.size, buffer.extents, self._size)

    def _group(self, group: GroupCode) -> list[Stmt]:
        stages = [self.pipeline.stage(name) for name in group.plan.group.stages]
        shares = self._shares
        if isinstance(group.plan, NestPlan):
            pads = [ThreadScratch(group.number, nest.pads) for nest in group.nests]
            runs = map(partial(shares.run, stages, group.plan), group.nests, pads)
            return [statement for run in runs for statement in run]
        if group.tiles is None:
            raise InternalError(f"bug in polymat: no tiles for {group.plan}")
        fixed = bool(group.tiles.copied)
        return [Block(group.tiles.run(shares.declared(stages, shares.speed(group.plan), fixed=fixed)))]

    def _size(self, form: Affine) -> CExpr:
        return affine_expr(form, lambda n: Id(self.names.get("size", n)), self.needs)

    def work_function(self, sizes: Sequence[Size]) -> CFunction:
        """`_pm_work`: the scalar operations of a call, estimated."""
        self.needs.add(Piece.PLACE)
        total: CExpr = Literal("0.0")
        for stage in (each for each in self.pipeline.stages if each.name not in self.kept):
            total = CBinary("+", total, stage_work(stage, self._size))
        body: list[Stmt] = [Return(total)]
        unpacked = [s for s in self._unpack_sizes(sizes) if s.name in names_in(body)]
        silent = [] if unpacked else [Evaluate(Cast("void", Id("_pm_sizes")))]
        parameters = (CParameter("const ptrdiff_t *", "_pm_sizes"),)
        return exported("double", "_pm_work", parameters, (*unpacked, *silent, *body))
