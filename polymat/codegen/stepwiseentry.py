"""The exported functions of a program in sections, which call one section after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

from polymat.codegen.c.abi import LIBRARY_MISSING, OK, OUT_OF_MEMORY, Size
from polymat.codegen.c.affineforms import affine_expr
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Note,
    Return,
    Stmt,
    exported,
    names_in,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Helper, Need, Piece
from polymat.codegen.entry import ENTRY_PARAMETERS, argument, clock
from polymat.codegen.loops.work import times_extents
from polymat.codegen.memory.pads import place
from polymat.codegen.nestshares import repeated
from polymat.codegen.program import Program
from polymat.codegen.routines.librarylinks import routines_of
from polymat.codegen.sectionloops import last_of_block, runs_on, times
from polymat.codegen.sharedslices import SharedSlices
from polymat.codegen.togetherloops import loops_together
from polymat.codegen.valuechecks import ValueChecks, alone
from polymat.graph.pointsteps import PointSteps
from polymat.graph.stepwise import ArrayView, HeldArray, StepSection, Stepwise, section_text
from polymat.lang.affine import Affine

STATE, SIZES = "_pm_state", "_pm_sizes"


class StepwiseEntry:
    """Writes `_pm_entry` and `_pm_work` of a program in sections; sizes: in the order of the signature.

    team: the threads that some work is worth, of so many.  within: a call of it is a part of another one.
    clocked: the end of each section is noted.
    """

    def __init__(
        self,
        stepwise: Stepwise[Program],
        names: Names,
        needs: set[Need],
        sizes: Sequence[Size],
        team: Callable[[CExpr, CExpr], CExpr],
        *,
        within: bool = False,
        clocked: bool = False,
    ) -> None:
        self.stepwise = stepwise
        self.pipeline = stepwise.whole
        self.names = names
        self.needs = needs
        self.sizes = sizes
        self.team = team
        self.within = within
        self.clocked = clocked
        self.end = partial(last_of_block, name=self._size_name, needs=needs)
        self.held = {each.name: each for each in stepwise.held}
        self.checked = {array.name: array for array in self.pipeline.inputs if array.values is not None}

    def function(self, *, leaves: bool) -> CFunction:
        """`_pm_entry`; leaves: it tells that the threads are needed no more."""
        body: list[Stmt] = [*ValueChecks(self.pipeline, self.names, self.needs, self._form, alone).before()]
        if routines_of(self.needs):
            missing = CBinary("==", CCall("_pm_routines_ready", ()), Literal("0"))
            body.append(If(missing, (Return(Literal(str(LIBRARY_MISSING))),)))
        kept = [each for each in self.stepwise.held if each.place == "workspace"]
        body += [statement for each in self._planar() for statement in self._plane_size(each)]
        body += self._workspace(kept) if kept else []
        body += [Declare("int", STATE, Literal(str(OK))), *clock(0, self.needs, clocked=self.clocked)]
        for number, section in enumerate(self.stepwise.sections, 1):
            run = self._run(number, section, weighs=leaves)
            body += [*run, *clock(number, self.needs, clocked=self.clocked)]
        if kept:
            body.append(Evaluate(CCall("_pm_workspace_give", (Id("_pm_workspace"),))))
        if leaves:
            several = CBinary(">", Id("_pm_threads"), Literal("1"))
            body.append(If(several, (Evaluate(CCall("_pm_team_leave", ())),)))
        body.append(Return(Id(STATE)))
        used = names_in(body)
        unpacked = [each for each in self._unpack() if each.name in used]
        ignored = [p.name for p in ENTRY_PARAMETERS if p.name not in used | names_in(unpacked)]
        silent = [Evaluate(Cast("void", Id(name))) for name in ignored]
        return exported("int", "_pm_entry", ENTRY_PARAMETERS, (*unpacked, *silent, *body))

    def work_function(self) -> CFunction:
        """`_pm_work`: what the sections estimate, those of many steps at the one in the middle."""
        total = Id("_pm_total")
        body: list[Stmt] = [Declare("double", total.name, Literal("0.0"))]
        for number, section in enumerate(self.stepwise.sections, 1):
            call = CCall(f"_pm_work_s{number}", (Id("_pm_here"),))
            if section.steps is None:
                body.append(Block((self._here(section), Assign(total, "+=", call))))
                continue
            low, high = self._limits(section)
            many = CCall("_pm_extent", (times(low, high, section.steps.every),))
            middle = CBinary("/", CBinary("+", low, high), Literal("2"))
            step = Declare("const ptrdiff_t", self._size_name(section.steps.name), middle)
            there = Assign(total, "+=", CBinary("*", call, many))
            end = self.end(section.steps, high)
            body.append(Block((step, *end, self._here(section), there)))
        body.append(Return(total))
        unpacked = [each for each in self._unpack_sizes() if each.name in names_in(body)]
        silent = [] if unpacked else [Evaluate(Cast("void", Id(SIZES)))]
        parameters = (CParameter("const ptrdiff_t *", SIZES),)
        return exported("double", "_pm_work", parameters, (*unpacked, *silent, *body))

    # ---- sections ----

    def _run(self, number: int, section: StepSection[Program], *, weighs: bool) -> list[Stmt]:
        """Run a section, unless one before it failed; weighs: its steps ask which threads they are worth."""
        note = Note(f"section {number}: {section_text(section)}")
        arguments = (Id("_pm_given"), Id("_pm_here"), Id("_pm_scalars"), Id("_pm_threads"))
        call = Assign(Id(STATE), "=", CCall(f"_pm_entry_s{number}", arguments))
        end = self.end(section.steps, Id(f"_pm_last_{number}"))
        body: tuple[Stmt, ...] = (*end, self._given(section), self._here(section), call)
        fine = CBinary("==", Id(STATE), Literal(str(OK)))
        if section.steps is None:
            return [note, If(fine, body)]
        low, high = self._limits(section)
        name = self._size_name(section.steps.name)
        if section.independent:
            given = (self._given(section), self._here(section))
            return [note, If(fine, SharedSlices(number, name, low, high, given, self.team).statements(STATE))]
        last, start = f"_pm_last_{number}", f"_pm_start_{number}"
        follow = self._together(number, section, last)
        limits = Declare("const ptrdiff_t", last, high), note
        if isinstance(section.together, PointSteps):
            some = CBinary("&&", CBinary("<=", Id(start), Id(last)), fine)
            return [*limits, Declare("const ptrdiff_t", start, low), If(some, follow)]
        goes_on = CBinary("&&", runs_on(section.steps, name, low, last), fine)
        by = Literal(str(section.steps.every))
        loop = For(name, Id(start) if follow else low, goes_on, by, body)
        return [
            *limits,
            *((Declare("ptrdiff_t", start, low), *follow) if follow else ()),
            *(repeated(loop, Id(last)) if weighs else (loop,)),
        ]

    def _together(self, number: int, section: StepSection[Program], last: str) -> tuple[Stmt, ...]:
        """Take those steps that run together, if any do."""
        assert section.steps is not None
        step, start = self._size_name(section.steps.name), f"_pm_start_{number}"
        given, here = self._given(section), self._here(section)
        parts = (number, step, start, last, given, here, self._form, self.needs, self.team)
        return loops_together(section, parts)

    def _limits(self, section: StepSection[Program]) -> tuple[CExpr, CExpr]:
        """The first and the last step of a section."""
        assert section.steps is not None
        return (
            self._outermost(section.steps.first, MAX_I64),
            self._outermost(section.steps.last, MIN_I64),
        )

    def _outermost(self, forms: Sequence[Affine], need: Helper) -> CExpr:
        values = [self._form(form) for form in dict.fromkeys(forms)]
        if len(values) > 1:
            self.needs.add(need)
        return reduce(lambda one, other: CCall(need.function, (one, other)), values)

    def _given(self, section: StepSection[Program]) -> Declare:
        """The arguments of a section."""
        views = (*section.inputs, *section.outputs)
        return Declare("void *const", f"_pm_given[{len(views)}]", Braces(tuple(map(self._view, views))))

    def _here(self, section: StepSection[Program]) -> Declare:
        """The sizes of a section."""
        (program,) = section.flat()
        values = tuple(Id(self._size_name(size.name)) for size in program.signature.sizes)
        return Declare(
            "const ptrdiff_t", f"_pm_here[{max(len(values), 1)}]", Braces(values or (Literal("0"),))
        )

    def _view(self, view: ArrayView) -> CExpr:
        """Where an argument lies."""
        array = Id(self.names.get("array", view.array))
        if view.step is None:
            return Cast("void *", array)
        held = self.held[view.array]
        number = self._form(held.plane(view.step))
        if held.is_folded:
            number = CBinary("%", number, self._form(held.planes))
        if held.planes == Affine((), 1):
            return Cast("void *", array)
        offset = CBinary("*", Cast("size_t", number), Id(self._plane(held)))
        if view.array in self.checked:
            return Cast("void *", CBinary("+", Cast("const char *", array), offset))
        return CBinary("+", array, offset)

    # ---- memory ----

    def _planar(self) -> list[HeldArray]:
        """The arrays of several planes that some section has one of."""
        views = [view for each in self.stepwise.sections for view in (*each.inputs, *each.outputs)]
        stepped = {view.array for view in views if view.step is not None}
        single = Affine((), 1)
        return [each for each in self.stepwise.held if each.name in stepped and each.planes != single]

    def _plane(self, held: HeldArray) -> str:
        return f"_pm_plane_{held.name}"

    def _plane_size(self, held: HeldArray) -> list[Stmt]:
        """The distance of planes; those that nobody reads all at once have lines of their own."""
        size = self._bytes(held.dtype.size, held.extents)
        if not held.is_folded:
            return [Declare("const size_t", self._plane(held), Cast("size_t", size))]
        return [
            Declare("size_t", self._plane(held), Literal("0")),
            Evaluate(Cast("void", place(self._plane(held), size))),
        ]

    def _bytes(self, each: int, extents: Sequence[Affine]) -> CExpr:
        return times_extents(each, extents, self._form)

    def _workspace(self, kept: Sequence[HeldArray]) -> list[Stmt]:
        """Lay the arrays out one after the other, each on its own cache line."""
        self.needs.update({Piece.WORKSPACE, Piece.PLACE})
        body: list[Stmt] = [Declare("size_t", "_pm_bytes", Literal("0"))]
        for each in kept:
            room = place("_pm_bytes", self._room(each))
            body.append(Declare("const size_t", f"_pm_at_{each.name}", room))
        body.append(Declare("char *const ", "_pm_workspace", CCall("_pm_workspace_take", (Id("_pm_bytes"),))))
        none = CBinary("==", Id("_pm_workspace"), Literal("0"))
        body.append(If(none, (Return(Literal(str(OUT_OF_MEMORY))),)))
        for each in kept:
            pointer = CBinary("+", Id("_pm_workspace"), Id(f"_pm_at_{each.name}"))
            body.append(Declare("char *const ", self.names.get("array", each.name), pointer))
        return body

    def _room(self, held: HeldArray) -> CExpr:
        """The bytes of an array between sections."""
        if held.is_folded and held.planes != Affine((), 1):
            planes = Cast("double", self._form(held.planes))
            return CBinary("*", planes, Cast("double", Id(self._plane(held))))
        extents = held.extents if held.origin is None else (held.planes, *held.extents)
        return self._bytes(held.dtype.size, extents)

    # ---- arguments ----

    def _unpack(self) -> list[Declare]:
        found = [self._array(number, name) for number, name in enumerate(self._called())]
        return [*found, *self._unpack_sizes()]

    def _called(self) -> list[str]:
        """The caller's arrays; an output that sections keep elsewhere is copied to it by the last one."""
        return [array.name for array in self.pipeline.inputs] + [*self.pipeline.outputs]

    def _array(self, number: int, name: str) -> Declare:
        """Where an array of the caller's begins: in bytes, but in elements where these are looked at."""
        checked = self.checked.get(name)
        ctype = "char *const " if checked is None else f"const {checked.dtype.c} *const "
        pointer = argument("_pm_arrays", number, self.needs, within=self.within)
        return Declare(ctype, self.names.get("array", name), pointer)

    def _unpack_sizes(self) -> list[Declare]:
        return [
            Declare(
                "const ptrdiff_t",
                self._size_name(size.name),
                argument(SIZES, k, self.needs, within=self.within),
            )
            for k, size in enumerate(self.sizes)
        ]

    def _size_name(self, name: str) -> str:
        return self.names.get("size", name)

    def _form(self, form: Affine) -> CExpr:
        return affine_expr(form, lambda name: Id(self._size_name(name)), self.needs)
