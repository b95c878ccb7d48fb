"""Functions in several: runs of their statements become functions, where one would have too many lines.

before:  int entry(...) { const size_t a = place(&bytes, ...); ...; group_1(...); ...; return 0; }
after:   static void entry_part1(size_t *bytes, left *left) { left->a = place(bytes, ...); ... }
         int entry(...) { left left_1; entry_part1(&bytes, &left_1); group_1(..., left_1.a); ...; return 0; }

What a part takes from around it are its parameters, those by their address that it changes.  What it declares
for others to use is its value, or lies in a structure.  Where it fails, so does the whole.

Where there are loops over elements, a part neither changes variables of others nor declares any for them, and
inside of a loop it has one itself: a call is nothing beside that.  Copies of a statement for several points
count as one line there, so that a block of registers stays whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    INLINED,
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    Field,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Structure,
)
from polymat.codegen.c.freenames import free_of, with_values
from polymat.codegen.c.pointing import KnownName, known_in, make_known
from polymat.codegen.c.render import function_text
from polymat.codegen.c.scopes import every
from polymat.codegen.partruns import HEAD, Rules, Run, best_run, has_loops_within, is_long, lines_of
from polymat.codegen.unrolled import rolled_lines
from polymat.memo import remembered

LEFT = "_pm_left"
SUM = "_pm_sum_"


def in_parts(
    function: CFunction, most: int, names: Collection[str] = ()
) -> tuple[tuple[CFunction, ...], tuple[Structure, ...]]:
    """The function behind those of its parts, and the types of what they leave; names: of other functions."""
    if not lines_over(function, most):
        return (function,), ()
    parts = FunctionCutter(function, most, names)
    return parts.functions(), tuple(parts.structures)


def lines_over(function: CFunction, most: int) -> int:
    """By how many lines a function is too long, the comment before it left out; 0: by none.

    Copies of a statement for several points count once where there are loops over elements.
    """
    lines = _bare_text(function).count("\n")
    if lines > most and not function.runs_others:
        lines = _rolled(function)
    return max(0, lines - most)


@remembered
def _rolled(function: CFunction) -> int:
    return rolled_lines(_bare_text(function))


def _bare_text(function: CFunction) -> str:
    """The text of a function without the comment before it."""
    comment = function.comment.count("\n") + 1 if function.comment else 0
    return function_text(function).split("\n", comment)[-1]


class FunctionCutter:
    """Cuts one function."""

    def __init__(self, function: CFunction, most: int, names: Collection[str] = ()) -> None:
        self.function, self.most = function, most
        self.stem = function.name if function.static or self._is_ours else "_pm_call"
        self.earlier = sum(1 for each in names if each.startswith(f"{self.stem}_part"))
        self.rules = Rules(most, ends=function.returns == "int", whole=not function.runs_others)
        self.made: list[CFunction] = []
        self.structures: list[Structure] = []
        self.sums = max((_number(each) for each in every(function.body)), default=0)

    def functions(self) -> tuple[CFunction, ...]:
        """The parts, and the function that calls them."""
        known = {each.name: KnownName(each.ctype) for each in self.function.parameters}
        head = HEAD + len(known) // 4
        rules = replace(self.rules, last=self.function.returns in ("void", INLINED))
        body = self._scope(self.function.body, known, self.most - head, 1, rules)
        return (*self.made, replace(self.function, body=body))

    def _scope(
        self, statements: Sequence[Stmt], before: Mapping[str, KnownName], room: int, depth: int, rules: Rules
    ) -> tuple[Stmt, ...]:
        """Statements of at most so many lines, as far as they can be cut."""
        found: list[Stmt] = []
        known = dict(before)
        apart = statements if rules.whole else self._apart(statements, depth)
        for number, each in enumerate(apart, 1):
            within = replace(rules, last=rules.last and number == len(apart) and not isinstance(each, For))
            found.append(self._inside(each, known, depth, within))
            make_known(found[-1], known)
        while sum(rules.lines(each, depth) for each in found) > room:
            run = best_run(found, before, depth, rules)
            if run is None:
                break
            found = self._cut(found, run, known_in(found[: run.end], before))
        return tuple(found)

    def _inside(self, statement: Stmt, known: Mapping[str, KnownName], depth: int, rules: Rules) -> Stmt:
        """A statement whose scopes are so short that it can be a part."""
        room = self.most - 2 * HEAD
        if rules.whole:
            room -= rules.for_handed(len(known.keys() & free_of(statement).used))
        if rules.lines(statement, depth) <= room or (rules.whole and not has_loops_within(statement)):
            return statement
        match statement:
            case For(variable=name, body=body):
                within = {**known, name: KnownName("const ptrdiff_t")}
                if rules.whole and is_long(statement):
                    rules = replace(rules, loops=True)
                return replace(statement, body=self._scope(body, within, room, depth + 1, rules))
            case Block(body):
                return Block(self._scope(body, known, room, depth + 1, rules))
            case If(condition, then, otherwise):
                one = self._scope(then, known, room // 2, depth + 1, rules)
                return If(condition, one, self._scope(otherwise, known, room // 2, depth + 1, rules))
            case _:
                return statement

    def _apart(self, statements: Sequence[Stmt], depth: int) -> list[Stmt]:
        """The statements with long sums of real numbers in two or more of them."""
        found: list[Stmt] = []
        for each in statements:
            if lines_of(each, depth) > self.most // 2:
                found += self._sums(each, depth)
            else:
                found.append(each)
        return found

    def _sums(self, statement: Stmt, depth: int) -> list[Stmt]:
        is_real = isinstance(statement, Declare) and statement.ctype == "const double"
        is_real |= isinstance(statement, Return) and self.function.returns == "double"
        if not is_real:
            return [statement]
        assert isinstance(statement, Declare | Return)
        found: list[Stmt] = []
        first, terms = _terms(statement.value)
        total = first
        for term in terms:
            longer = CBinary("+", total, term)
            trial = replace(statement, value=longer)
            if lines_of(trial, depth) > self.most // 3 and total is not first:
                self.sums += 1
                name = f"{SUM}{self.sums}"
                found.append(Declare("const double", name, total))
                longer = CBinary("+", Id(name), term)
            total = longer
        return [*found, replace(statement, value=total)]

    def _cut(self, statements: Sequence[Stmt], run: Run, known: Mapping[str, KnownName]) -> list[Stmt]:
        """The statements with the call of a part in place of a run."""
        number = self.earlier + len(self.made) + 1
        name = f"{self.stem}_part{number}"
        body = list(statements[run.begin : run.end])
        alone = len(run.left) == 1 and not run.fails
        types = {each: _kept(known[each].ctype) for each in run.left}
        apart = self.rules.whole and not any(known[each].is_copied for each in run.handed)
        parameters = [_parameter(each, known[each], each in run.changed, apart=apart) for each in run.handed]
        arguments: list[CExpr] = [
            CUnary("&", Id(each)) if each in run.changed else Id(each) for each in run.handed
        ]
        before: list[Stmt] = []
        after = list(statements[run.end :])
        pointed: dict[str, CExpr] = {each: CUnary("*", Id(each)) for each in run.changed}
        made = [*with_values(body, pointed)]
        if run.left and not alone:
            structure = Structure(f"{LEFT}{name.removeprefix('_pm')}", _fields(types))
            self.structures.append(structure)
            variable = f"{LEFT}_{number}"
            before = [Declare(structure.name, variable)]
            parameters.append(CParameter(f"{structure.name} *", LEFT))
            arguments.append(CUnary("&", Id(variable)))
            made = _leaving(made, run.left, Id(LEFT))
            after = [*with_values(after, {each: Field(CUnary("&", Id(variable)), each) for each in run.left})]
        call = CCall(name, tuple(arguments))
        returns = types[run.left[0]] if alone else "int" if run.fails else self._nothing
        made += [Return(Id(run.left[0]))] if alone else [Return(Literal("0"))] if run.fails else []
        self.made.append(
            CFunction(returns, name, tuple(parameters), tuple(made), runs_others=self.function.runs_others)
        )
        return [*statements[: run.begin], *before, *self._called(call, run, alone, known, number), *after]

    @property
    def _nothing(self) -> str:
        """What a part returns that leaves nothing."""
        return INLINED if self.function.returns == INLINED else "void"

    @property
    def _is_ours(self) -> bool:
        return self.function.name.startswith("_pm_")

    def _called(
        self, call: CCall, run: Run, alone: bool, known: Mapping[str, KnownName], number: int
    ) -> list[Stmt]:
        """What calls a part."""
        if alone:
            return [Declare(known[run.left[0]].ctype, run.left[0], call)]
        if not run.fails:
            return [Evaluate(call)]
        failed = Id(f"_pm_failed_{number}")
        return [Declare("const int", failed.name, call), If(failed, (Return(failed),))]


def _leaving(body: Sequence[Stmt], left: Sequence[str], place: CExpr) -> list[Stmt]:
    """The statements of a part, whose declarations for others go into a structure."""
    found: list[Stmt] = []
    values: dict[str, CExpr] = {}
    for each in body:
        (made,) = with_values([each], values)
        if isinstance(made, Declare) and made.name in left:
            assert made.value is not None
            values[made.name] = Field(place, made.name)
            made = Assign(Field(place, made.name), "=", made.value)
        found.append(made)
    return found


def _number(statement: Stmt) -> int:
    """The number of a part of a sum that was declared before; 0 of any other statement."""
    name = statement.name if isinstance(statement, Declare) else ""
    number = name.removeprefix(SUM)
    return int(number) if name.startswith(SUM) and number.isdecimal() else 0


def _terms(value: CExpr | None) -> tuple[CExpr, list[CExpr]]:
    """The first term of a sum, and the others in the order in which they are added."""
    assert value is not None
    others: list[CExpr] = []
    while isinstance(value, CBinary) and value.op == "+":
        others.append(value.right)
        value = value.left
    return value, others[::-1]


def _fields(types: Mapping[str, str]) -> tuple[CParameter, ...]:
    return tuple(CParameter(ctype, name) for name, ctype in types.items())


def _kept(ctype: str) -> str:
    """The type of a variable that is assigned later."""
    if "*" in ctype:
        return ctype.removesuffix(" ").removesuffix("const") if ctype.rstrip().endswith("const") else ctype
    return ctype.removeprefix("const ")


def _parameter(name: str, known: KnownName, is_changed: bool, *, apart: bool) -> CParameter:
    """A parameter of a part; apart: whether pointers keep the promise that nothing else points there."""
    ctype = _kept(known.ctype)
    ctype = ctype if apart else ctype.replace("restrict ", "")
    if known.is_array:
        return CParameter(f"{known.ctype.rstrip()} *", name)
    if is_changed:
        return CParameter(f"{ctype.rstrip()} *", name)
    return CParameter(ctype if "*" in ctype else f"const {ctype}", name)
