"""From the C tree to text: the only place that prints C."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    Constants,
    CUnary,
    Declare,
    Evaluate,
    Field,
    File,
    For,
    Id,
    If,
    Literal,
    Note,
    Return,
    Stmt,
    Structure,
    Subscript,
    Ternary,
)
from polymat.errors import unreachable
from polymat.memo import remembered

INDENT = "    "
LINE_WIDTH = 110
_LEVELS = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_TERNARY, _PREFIX, _POSTFIX = 0, 11, 12
_LOGICAL = {"&&", "||"}  # of several in a row the order does not matter
# gcc warns where && stands inside ||, so these get parentheses although C would not need them
_MIXED = {*_LOGICAL, "==", "!=", "<", "<=", ">", ">="}


def unit(file: File, head: str) -> str:
    """The text of a translation unit; head: what stands before its own tables and functions."""
    pieces = [_comment(file.comment, ""), head]
    if file.undefine:
        pieces.append("".join(f"#undef {name}\n" for name in file.undefine))
    pieces += file.texts
    pieces += [_constants(table) for table in file.tables]
    pieces += [_structure(each) for each in file.structures]
    pieces += [f"{_folded(prototype(function))};\n" for function in file.declared]
    pieces += [function_text(function) for function in file.functions]
    pieces += [f'const char {name}[] = "{text}";\n' for name, text in file.marks]
    return "\n".join(pieces)


@remembered
def function_text(function: CFunction) -> str:
    """The text of one function, which stands in a program's whole text and in one of its files."""
    return "".join(f"{line}\n" for line in _function(function))


def _constants(table: Constants) -> str:
    start = f"static const {_declared(table.ctype, table.name)}[] __attribute__((aligned(64), unused)) = {{"
    return f"{start}\n{INDENT}" + _wrapped([expression(value) for value in table.values], 4) + "\n};\n"


def _structure(structure: Structure) -> str:
    fields = [f"{INDENT}{_declared(each.ctype, each.name)};" for each in structure.fields]
    return "\n".join(["typedef struct {", *fields, f"}} {structure.name};", ""])


def _folded(line: str) -> str:
    """Break a long line of code at spaces; comments and pragmas stay as they are."""
    code = line.lstrip()
    if len(line) <= LINE_WIDTH or code.startswith(("/*", "#")) or "\n" in line:
        return line
    indent = line[: len(line) - len(code)] + INDENT * 2
    words, lines = code.split(" "), [line[: len(line) - len(code)]]
    for word in words:
        separator = "" if not lines[-1].strip() else " "
        if lines[-1].strip() and len(lines[-1]) + len(word) + 1 > LINE_WIDTH:
            lines.append(indent)
            separator = ""
        lines[-1] += separator + word
    return "\n".join(lines)


def _comment(text: str, indent: str) -> str:
    lines = text.replace("*/", "* /").split("\n")
    if len(lines) == 1:
        return f"{indent}/* {lines[0]} */"
    return "\n".join(
        f"{indent}{'/*' if k == 0 else '  '} {line}{' */' if k == len(lines) - 1 else ''}".rstrip()
        for k, line in enumerate(lines)
    )


def prototype(function: CFunction, hidden: Collection[str] = ()) -> str:
    """The declaration of a function, without its semicolon.

    hidden: names of parameters that stand in a comment: whoever reads it may have macros of these names.
    """
    parameters = [
        f"{p.ctype} /* {p.name} */" if p.name in hidden else _declared(p.ctype, p.name)
        for p in function.parameters
    ] or ["void"]
    start = f"{'static ' if function.static else ''}{_declared(function.returns, function.name)}("
    return start + _wrapped(parameters, len(start)) + ")"


def _wrapped(items: Sequence[str], column: int) -> str:
    """Items separated by commas, on further lines where a line would get too long."""
    found, width = list[str](), column
    for position, item in enumerate(items):
        separator = "" if position == 0 else ", "
        if position and width + len(item) + 3 > LINE_WIDTH:
            separator, width = f",\n{INDENT * 2}", len(INDENT * 2)
        found += (separator, item)
        width += len(item) + 2
    return "".join(found)


def _declared(ctype: str, name: str) -> str:
    return f"{ctype}{name}" if ctype[-1] in "* " else f"{ctype} {name}"


def _function(function: CFunction) -> Iterator[str]:
    if function.comment:
        yield _comment(function.comment, "")
    yield _folded(prototype(function))
    yield "{"
    yield from _block(function.body, INDENT)
    yield "}"


def _block(body: Sequence[Stmt], indent: str) -> Iterator[str]:
    for statement in body:
        yield statement_text(statement, indent)


@remembered
def statement_text(statement: Stmt, indent: str) -> str:
    """The text of one statement, in as many lines as it takes."""
    return "\n".join(_lines(statement, indent))


def _lines(statement: Stmt, indent: str) -> Iterator[str]:
    """The lines of a statement, those of each statement within it as one text."""
    if isinstance(statement, Note):
        yield _comment(statement.text, indent)
        return
    if isinstance(statement, For):
        yield from (f"#pragma {pragma}" for pragma in statement.pragmas)
    yield _folded(indent + _head(statement))
    match statement:
        case For(body=body) | Block(body):
            yield from _block(body, indent + INDENT)
            yield f"{indent}}}"
        case If(_, then, otherwise):
            yield from _block(then, indent + INDENT)
            if otherwise:
                yield f"{indent}}} else {{"
                yield from _block(otherwise, indent + INDENT)
            yield f"{indent}}}"


@remembered
def _head(statement: Stmt) -> str:
    """The line that a statement begins with, which is all of one that has no scopes, wherever it stands."""
    match statement:
        case Declare(ctype, name, value):
            start = "" if value is None else f" = {expression(value)}"
            return f"{_declared(ctype, name)}{start};"
        case Assign(target, op, value):
            return f"{expression(target)} {op} {expression(value)};"
        case Evaluate(expr):
            return f"{expression(expr)};"
        case Return(value):
            return "return;" if value is None else f"return {expression(value)};"
        case For():
            return _loop(statement)
        case If(condition):
            return f"if ({expression(condition)}) {{"
        case Block():
            return "{"
        case Note(text):
            return text
        case _:
            unreachable(statement)


def _loop(loop: For) -> str:
    step = expression(loop.step)
    by = f"-= {step[1:]}" if step.startswith("-") else f"+= {step}"
    advance = f"{loop.variable}++" if step == "1" else f"{loop.variable} {by}"
    start, condition = expression(loop.start), expression(loop.condition)
    return f"for (ptrdiff_t {loop.variable} = {start}; {condition}; {advance}) {{"


def expression(expr: CExpr, outer: int = 0) -> str:
    """The text of an expression, with the parentheses that an operator of level `outer` around it needs."""
    match expr:
        case Id(name):
            return name
        case Literal(text):
            return f"({text})" if text.startswith("-") and outer else text
        case CUnary(op, operand):
            inner = expression(operand, _PREFIX)
            separated = f"({inner})" if inner.startswith(op) else inner
            return _wrap(f"{op}{separated}", _PREFIX, outer)
        case CBinary():
            return _infix(expr, outer)
        case CCall(function, arguments):
            return f"{function}({', '.join(expression(a) for a in arguments)})"
        case Subscript(array, index):
            return f"{expression(array, _POSTFIX)}[{expression(index)}]"
        case Field(CUnary("&", structure), name):
            return f"{expression(structure, _POSTFIX)}.{name}"
        case Field(structure, name):
            return f"{expression(structure, _POSTFIX)}->{name}"
        case Braces(items):
            return f"{{{', '.join(map(expression, items))}}}"
        case Cast(ctype, operand):
            return _wrap(f"({ctype}){expression(operand, _PREFIX)}", _PREFIX, outer)
        case Ternary(condition, then, otherwise):
            text = f"{expression(condition, 1)} ? {expression(then, 1)} : {expression(otherwise, 1)}"
            return _wrap(text, _TERNARY, outer)
        case _:
            unreachable(expr)


def _infix(expr: CBinary, outer: int) -> str:
    """A chain of left-associative operators, without recursion along the chain."""
    chain = [expr]
    while isinstance(chain[-1].left, CBinary) and _continues(chain[-1].left.op, chain[-1].op):
        chain.append(chain[-1].left)
    texts = [expression(chain[-1].left, _inner(chain[-1].op, _LEVELS[chain[-1].op]))]
    for link in reversed(chain):
        right = link.right
        same = isinstance(right, CBinary) and right.op == link.op and link.op in _LOGICAL
        texts.append(f"{link.op} {expression(right, 0 if same else _inner(link.op, _LEVELS[link.op] + 1))}")
    return _wrap(" ".join(texts), _LEVELS[expr.op], outer)


def _continues(inner: str, outer: str) -> bool:
    if outer in _LOGICAL:
        return inner == outer
    return _LEVELS[inner] >= _LEVELS[outer] and inner not in _MIXED and outer not in _MIXED


def _inner(op: str, level: int) -> int:
    return level + 2 if op in _LOGICAL else level


def _wrap(text: str, level: int, outer: int) -> str:
    return f"({text})" if level < outer else text
