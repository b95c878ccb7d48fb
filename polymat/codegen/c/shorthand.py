"""What several writers of C put together: all of some conditions, and requests of lines of memory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Evaluate, Literal, Stmt

_REQUEST = "__builtin_prefetch"


def all_of(conditions: Iterable[CExpr]) -> CExpr:
    """All of some conditions, each once."""
    return reduce(partial(CBinary, "&&"), dict.fromkeys(conditions))


def request(address: CExpr, *, write: bool | None = None) -> Stmt:
    """Ask for the line of memory of an address: to write it, or to read it, which C takes for granted."""
    how = () if write is None else (Literal(str(int(write))),)
    return Evaluate(CCall(_REQUEST, (address, *how)))


def is_request(statement: Stmt) -> bool:
    """Whether a statement only asks for a line of memory."""
    match statement:
        case Evaluate(CCall(function)):
            return function == _REQUEST
        case _:
            return False
