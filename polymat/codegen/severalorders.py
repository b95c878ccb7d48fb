"""One program of several that compute the same: each call takes the one with the least work at its sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.abi import Signature
from polymat.codegen.c.affineforms import affine_expr
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    File,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Subscript,
    names_in,
)
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.header import header_text
from polymat.codegen.joinedfiles import as_part, is_exported, joined_file, joined_flags
from polymat.codegen.loops.work import times_extents, total_of
from polymat.codegen.program import Program
from polymat.codegen.routines.librarylinks import routines_of
from polymat.graph.orders import Work
from polymat.lang.affine import Affine
from polymat.model.confidence import CLEARLY


def joined_programs(work: Work, first: Program, others: Sequence[tuple[Work, Program]]) -> Program:
    """The first program with the others beside it, whose functions have numbers behind their names.

    The choice is behind `_pm_entry` and `_pm_work`; the arguments are those of all.
    """
    others = [each for each in others if _is_alike(first.signature, each[1].signature)]
    if not others:
        return first
    programs = [first, *(program for _, program in others)]
    files: list[File] = []
    for number, program in enumerate(programs, 1):
        taken = {function.name for file in files for function in file.functions}
        files.append(as_part(program.file, str(number), all_names=number > 1, taken=taken))
    needs: set[Need] = set().union(*(file.needs for file in files), {Piece.ARGUMENT, Piece.PLACE})
    choice = _choice([work, *(each for each, _ in others)], first, needs)
    functions = [function for file in files for function in file.functions]
    chosen = [_chosen(function, len(programs)) for function in first.file.functions if is_exported(function)]
    comment = "\n\n".join(each.comment for each in files)
    file = joined_file(files, needs, [*functions, choice, *chosen, first.file.functions[-1]], comment)
    shared = set.intersection(*({*program.signature.inplace} for program in programs))
    inplace = tuple(pair for pair in first.signature.inplace if pair in shared)
    signature = replace(first.signature, inplace=inplace, routines=routines_of(needs))
    header = header_text(signature, first.names)
    return replace(first, file=file, signature=signature, header=header, flags=joined_flags(programs))


def _is_alike(one: Signature, other: Signature) -> bool:
    """Whether two programs are called alike, but for arrays that may be one and libraries that they need."""
    return replace(other, inplace=one.inplace, routines=one.routines) == one


def _choice(works: Sequence[Work], program: Program, needs: set[Need]) -> CFunction:
    """Which program is run at some sizes: the first one unless another has clearly less work."""
    least, order = Id("_pm_least"), Id("_pm_order")
    texts = [_work(work, program.names, needs) for work in works]
    body: list[Stmt] = [
        Declare("int", order.name, Literal("1")),
        Declare("double", least.name, CBinary("*", Literal(f"{CLEARLY}"), texts[0])),
    ]
    for number, text in enumerate(texts[1:], 2):
        name = f"_pm_work_of_{number}"
        then: tuple[Stmt, ...] = (
            Assign(order, "=", Literal(str(number))),
            Assign(least, "=", Id(name)),
        )
        body += [Declare("const double", name, text), If(CBinary("<", Id(name), least), then)]
    body.append(Return(order))
    used = names_in(body)
    unpacked = [each for each in _sizes(program) if each.name in used]
    comment = "The order of products that needs the fewest operations, weighted by how fast they are."
    sizes = CParameter("const ptrdiff_t *", "_pm_sizes")
    return CFunction("int", "_pm_chosen", (sizes,), (*unpacked, *body), comment, runs_others=True)


def _sizes(program: Program) -> Iterator[Declare]:
    for number, size in enumerate(program.signature.sizes):
        element = Subscript(Id("_pm_sizes"), Literal(str(number)))
        name = program.names.get("size", size.name)
        yield Declare("const ptrdiff_t", name, CCall("_PM_ARGUMENT", (element,)))


def _work(work: Work, names: Names, needs: set[Need]) -> CExpr:
    """The work at the sizes of a call."""

    def size(extent: Affine) -> CExpr:
        return affine_expr(extent, lambda name: Id(names.get("size", name)), needs)

    return total_of([times_extents(weight, extents, size) for weight, extents in work.steps])


def _chosen(function: CFunction, count: int) -> CFunction:
    """An exported function that calls that of the program which is run."""
    arguments = tuple(Id(parameter.name) for parameter in function.parameters)
    order = Id("_pm_order")
    body: list[Stmt] = [Declare("const int", order.name, CCall("_pm_chosen", (Id("_pm_sizes"),)))]
    for number in range(2, count + 1):
        called = Return(CCall(f"{function.name}_{number}", arguments))
        body.append(If(CBinary("==", order, Literal(str(number))), (called,)))
    body.append(Return(CCall(f"{function.name}_1", arguments)))
    return replace(function, body=tuple(body))
