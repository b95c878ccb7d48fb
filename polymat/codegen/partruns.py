"""Which statements of a scope become a function of their own: the run of them that makes it shortest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.codegen.c.ctree import Braces, Declare, Literal, Note, Return, Stmt
from polymat.codegen.c.freenames import Free, free_names
from polymat.codegen.c.pointing import KnownName, known_in, leaves_pointers
from polymat.codegen.c.render import statement_text
from polymat.codegen.c.scopes import every, variable
from polymat.dataclass import dataclass

HEAD = 4  # lines of a function around its statements
A_LINE = 4  # parameters in one
FEW = 12  # parameters that are handed one by one


@dataclass(frozen=True, slots=True)
class Run:
    """Statements begin .. end of a scope.

    handed: names that they take from around them, changed ones as well.  changed: those of them that they
    change.  left: names that they declare for what follows.  fails: whether they may end the whole function.
    """

    begin: int
    end: int
    handed: tuple[str, ...]
    changed: tuple[str, ...]
    left: tuple[str, ...]
    fails: bool
    saved: int


def lines_of(statement: Stmt, depth: int) -> int:
    """The lines of the text of a statement."""
    return statement_text(statement, "    " * depth).count("\n") + 1


def best_run(
    statements: Sequence[Stmt], before: Mapping[str, KnownName], depth: int, most: int, *, ends: bool
) -> Run | None:
    """The run of neighbouring statements that saves most lines, in a function of at most so many.

    before: what is known before the first of them.  ends: whether a function of these may end the whole one.
    """
    seen = [Seen(each, lines_of(each, depth), free_names([each]), _ending(each, ends)) for each in statements]
    behind = [Free(frozenset(), frozenset(), frozenset())]
    for each in reversed(seen):
        behind.append(behind[-1] | each.free)
    runs: list[Run] = []
    known = dict(before)
    for begin, each in enumerate(seen):
        runs += _runs(seen, behind[::-1], known, begin, most)
        known = known_in([each.statement], known)
    runs.sort(key=lambda run: (run.saved, -run.begin), reverse=True)
    return next((run for run in runs if not _is_left_pointing(statements, run, before)), None)


def _is_left_pointing(statements: Sequence[Stmt], run: Run, before: Mapping[str, KnownName]) -> bool:
    """Whether what a function of these leaves may point to variables that end with it."""
    known = known_in(statements[: run.begin], before)
    return leaves_pointers(statements[run.begin : run.end], known, run.left)


@dataclass(frozen=True, slots=True)
class Seen:
    """A statement, its lines, the names that it takes from around it, and how it may end the function.

    ends: None where a function of it could not end the whole one alike.
    """

    statement: Stmt
    lines: int
    free: Free
    ends: bool | None


def _ending(statement: Stmt, ends: bool) -> bool | None:
    """Whether it may end the function, with an error alone; None where it may do so otherwise."""
    returns = [each for each in every([statement]) if isinstance(each, Return)]
    return None if returns and not (ends and all(map(_is_failure, returns))) else bool(returns)


def _runs(
    seen: Sequence[Seen], behind: Sequence[Free], before: Mapping[str, KnownName], begin: int, most: int
) -> Iterator[Run]:
    """The runs from one statement on; behind: what is free from each statement on; before: of the first."""
    total, fails, free = 0, False, behind[-1]
    own: dict[str, Declare] = {}
    for end in range(begin + 1, len(seen) + 1):
        last = seen[end - 1]
        if last.ends is None or total + last.lines + HEAD > most:
            return
        total, fails, free = total + last.lines, fails or last.ends, free | last.free
        if isinstance(last.statement, Declare):
            own[variable(last.statement)] = last.statement
        handed = tuple(name for name in before if name in free.used and name not in own)
        changed = tuple(name for name in handed if name in free.changed and not before[name].is_array)
        size = total + HEAD + len(handed) // (2 if len(handed) > FEW else A_LINE)
        if size > most or isinstance(last.statement, Note) or not free.told.isdisjoint(changed):
            continue
        left = tuple(name for name in own if name in behind[end].used)
        saved = total - 2 - len(handed) // A_LINE - len(left) // 2 - 3 * fails
        may = all(map(_is_kept, map(own.get, left)))
        may = may and not _may_dangle(own, [own[n].ctype for n in left] + [before[n].ctype for n in changed])
        alone = len(left) == 1 and not fails
        may = may and (alone or (free.told | behind[end].told).isdisjoint(left))
        if may and saved > 0:
            yield Run(begin, end, handed, changed, left, fails, saved)


def _is_kept(declaration: Declare | None) -> bool:
    """Whether what is declared may lie in a structure, or be the value of a function."""
    if declaration is None or "[" in declaration.name:
        return False
    return declaration.value is not None and not isinstance(declaration.value, Braces)


def _may_dangle(own: Mapping[str, Declare], out: Sequence[str]) -> bool:
    """Whether pointers that come out of a run, of these types, may be to arrays that end with it."""
    return any("*" in ctype for ctype in out) and any("[" in each.name for each in own.values())


def _is_failure(statement: Return) -> bool:
    """Whether it ends the function with an error."""
    return isinstance(statement.value, Literal) and statement.value.text not in ("0", "")
