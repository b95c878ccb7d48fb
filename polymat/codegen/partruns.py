"""Which statements of a scope become a function of their own: the run of them that makes it shortest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import Braces, Declare, For, Literal, Note, Return, Stmt
from polymat.codegen.c.freenames import Free, free_of
from polymat.codegen.c.pointing import KnownName, leaves_pointers, make_known
from polymat.codegen.c.render import statement_text
from polymat.codegen.c.scopes import every, inner, variable
from polymat.codegen.c.vectorloops import in_vectors
from polymat.codegen.unrolled import rolled_lines
from polymat.dataclass import dataclass
from polymat.memo import remembered

HEAD = 4  # lines of a function around its statements
A_LINE = 4  # parameters in one
FEW = 12  # parameters that are handed one by one
PEELED = 16  # turns of a loop that gcc writes out whole, at most


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


@dataclass(frozen=True, slots=True)
class Rules:
    """Conditions under which statements may become a function.

    most: its lines.  ends: it may end the whole function.  whole: it changes no variable of others and leaves
    none, and copies of a statement for several points count as one line.  loops: it has a loop itself, since
    it stands in one.  last: nothing of the function comes behind the scope, and it has no result.
    """

    most: int
    ends: bool = False
    whole: bool = False
    loops: bool = False
    last: bool = False

    def lines(self, statement: Stmt, depth: int) -> int:
        """The lines that count of a statement."""
        return rolled_lines_of(statement, depth) if self.whole else lines_of(statement, depth)

    def for_handed(self, count: int) -> int:
        """The lines that so many parameters take, which are read from a structure where they are many."""
        if count <= FEW:
            return count // A_LINE
        return count if self.whole else count // 2


@remembered
def lines_of(statement: Stmt, depth: int) -> int:
    """The lines of the text of a statement."""
    return statement_text(statement, "    " * depth).count("\n") + 1


@remembered
def rolled_lines_of(statement: Stmt, depth: int) -> int:
    """Those lines, of which copies of a statement for several points count once."""
    return rolled_lines(statement_text(statement, "    " * depth))


@dataclass(frozen=True, slots=True)
class Seen:
    """A statement, its lines, the names that it takes from around it, and how it may end the function.

    ends: None where a function of it could not end the whole one alike.  loops: whether it has a loop of many
    points.
    """

    statement: Stmt
    lines: int
    free: Free
    ends: bool | None
    loops: bool


def best_run(
    statements: Sequence[Stmt], before: Mapping[str, KnownName], depth: int, rules: Rules
) -> Run | None:
    """The run of neighbouring statements that saves most lines; before: what is known before the first."""
    seen: list[Seen] = []
    for number, one in enumerate(statements, 1):
        ends = _ending(one, replace(rules, last=rules.last and number == len(statements)))
        seen.append(Seen(one, rules.lines(one, depth), free_of(one), ends, has_long_loop(one)))
    behind = [Free()]
    for each in reversed(seen):
        behind.append(behind[-1] | each.free)
    finder = _Finder(seen, behind[::-1], rules)
    known = dict(before)
    for begin, each in enumerate(seen):
        finder.look(begin, known)
        make_known(each.statement, known)
    return finder.best


@remembered
def has_long_loop(statement: Stmt) -> bool:
    """Whether there is a loop of many points in it."""
    return any(isinstance(each, For) and is_long(each) for each in every([statement]))


@remembered
def has_loops_within(statement: Stmt) -> bool:
    """Whether loops of many points stand in its scopes, none of them in a loop on vectors."""
    if isinstance(statement, For) and any(map(in_vectors, statement.pragmas)):
        return False
    return any(map(has_long_loop, (each for scope in inner(statement) for each in scope)))


def is_long(loop: For) -> bool:
    """Whether a loop may have more turns than a compiler writes out one after the other."""
    bound = getattr(loop.condition, "right", None)
    if not (isinstance(loop.start, Literal) and isinstance(bound, Literal)):
        return True
    return int(bound.text) - int(loop.start.text) > PEELED


def _ending(statement: Stmt, rules: Rules) -> bool | None:
    """Whether it may end the function, with an error alone; None where it may do so otherwise.

    A function that has no result, and nothing behind the statement, ends where a part ends that has it.
    """
    returns = _returns_in(statement)
    if rules.last:
        return False if all(each.value is None for each in returns) else None
    return None if returns and not (rules.ends and all(map(_is_failure, returns))) else bool(returns)


@remembered
def _returns_in(statement: Stmt) -> tuple[Return, ...]:
    return tuple(each for each in every([statement]) if isinstance(each, Return))


@dataclass(frozen=True, slots=True)
class _Part:
    """Statements that may become a function: their lines, the names that are free in them, their own ones.

    What they tell the compiler about may be their own.
    """

    where: range
    lines: int
    free: Free
    own: Mapping[str, Declare]
    fails: bool


class _Finder:
    """Looks for the best run; behind: what is free from each statement on."""

    def __init__(self, seen: Sequence[Seen], behind: Sequence[Free], rules: Rules) -> None:
        self.seen, self.behind, self.rules = seen, behind, rules
        self.best: Run | None = None

    def look(self, begin: int, before: Mapping[str, KnownName]) -> None:
        """Look at the runs from one statement on; before: what is known before it."""
        total, loops, fails = 0, False, False
        own: dict[str, Declare] = {}
        used, lost, assigned, told = set[str](), set[str](), set[str](), set[str]()
        for end in range(begin + 1, len(self.seen) + 1):
            last = self.seen[end - 1]
            total += last.lines
            if last.ends is None or total + HEAD > self.rules.most:
                return
            fails, loops = fails or last.ends, loops or last.loops
            used |= last.free.used - own.keys()
            lost |= last.free.changed - own.keys()
            assigned |= last.free.assigned - own.keys()
            told |= last.free.told
            if isinstance(last.statement, Declare):
                own[variable(last.statement)] = last.statement
            if isinstance(last.statement, Note) or (self.rules.loops and not loops):
                continue
            if total - 2 > self._least:
                free = Free(*map(frozenset, (used, lost, assigned, told)))
                part = _Part(range(begin, end), total, free, own, fails)
                self.best = self._run(part, before) or self.best

    @property
    def _least(self) -> int:
        """What a run has to save more than."""
        return self.best.saved if self.best else 0

    def _run(self, part: _Part, before: Mapping[str, KnownName]) -> Run | None:
        """The run of these statements; None where it may be none, or is no better than the best one."""
        begin, end, free, own = part.where.start, part.where.stop, part.free, part.own
        taken = {name for name in free.used if name in before}  # few of the many that are known
        left = tuple(name for name in own if name in self.behind[end].used)
        saved = part.lines - 2 - len(taken) // A_LINE - len(left) // 2 - 3 * part.fails
        if saved <= self._least or part.lines + HEAD + self.rules.for_handed(len(taken)) > self.rules.most:
            return None
        handed = tuple(name for name in before if name in taken)
        # Elements of what a pointer says lie elsewhere; those of a vector are the vector.
        values = free.changed | {name for name in free.assigned & taken if "*" not in before[name].ctype}
        values |= {name for name in taken if before[name].is_lent}
        changed = tuple(name for name in handed if name in values and not before[name].is_array)
        crossing = self.rules.whole and (changed or left)
        if crossing or not all(map(_is_kept, map(own.get, left))) or not free.used.isdisjoint(own):
            return None
        alone = len(left) == 1 and not part.fails
        told = free.told | self.behind[end].told
        if not free.told.isdisjoint(changed) or not (alone or told.isdisjoint(left)):
            return None
        body = [each.statement for each in self.seen[begin:end]]
        if any(before[name].is_table for name in handed) or leaves_pointers(body, before, left):
            return None
        return Run(begin, end, handed, changed, left, part.fails, saved)


def _is_kept(declaration: Declare | None) -> bool:
    """Whether what is declared may lie in a structure, or be the value of a function."""
    if declaration is None or "[" in declaration.name:
        return False
    return declaration.value is not None and not isinstance(declaration.value, Braces)


def _is_failure(statement: Return) -> bool:
    """Whether it ends the function with an error."""
    return isinstance(statement.value, Literal) and statement.value.text not in ("0", "")
