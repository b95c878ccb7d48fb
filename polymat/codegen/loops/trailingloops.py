"""The loops of a recurrence whose outermost iterations threads take by turns, each behind the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Declare, Evaluate, For, Id, If, Literal, Stmt
from polymat.codegen.loops.nestloops import LoopWriter
from polymat.errors import InternalError
from polymat.poly.ast import Guard, Instance, Loop, Nest

TRAIL = "_pm_mine"  # what a thread knows of the others


class TrailingLoops(LoopWriter):
    """Writes loops of which each thread takes some of the outermost iterations.

    Before each iteration of the second loop it waits for the thread of the iteration before, and behind it
    tells the one of the next.  A loop that runs once may be missing: then the outermost index is that of
    the statements, and for what is behind no second loop the whole iteration before has to be done.

    before:  for t: for i: ...
    after:   for t: if t is one of this thread's: { for i: wait(t, i); ...; tell(t, i + 1)
                                                    end(t) }
    """

    step: CExpr | None = None
    waited = False

    def _nest(self, nest: Nest) -> tuple[Stmt, ...]:
        match nest:
            case Loop(depth=0, iterator=name):
                return self._within_step(Id(self.name(name)), nest)
            case Guard():
                return super()._nest(nest)
            case _ if self.step is None:
                return self._within_step(self.expression(_first(nest).indices[0]), nest)
            case _ if not self.waited:
                return self._behind_wait(self.step, nest)
        return super()._nest(nest)

    def _within_step(self, step: CExpr, nest: Nest) -> tuple[Stmt, ...]:
        """An outermost iteration, where it is one of this thread's."""
        self.step = step

        def taken(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            return (If(_called("takes", step), (*body, Evaluate(_called("end", step)))),)

        outer = isinstance(nest, Loop) and nest.depth == 0
        written = _around(super()._nest(nest), taken) if outer else taken(self._nest(nest))
        self.step = None
        return written

    def _behind_wait(self, step: CExpr, nest: Nest) -> tuple[Stmt, ...]:
        """What is done of an outermost iteration once the one before is far enough."""
        self.waited = True
        written = super()._nest(nest)
        self.waited = False
        if not isinstance(nest, Loop) or nest.depth > 1:
            return (Evaluate(_called("wait_all", step)), *written)
        here = Id(self.name(nest.iterator))
        wait, tell = (
            Evaluate(_called(what, step, block))
            for what, block in (("wait", here), ("tell", CBinary("+", here, Literal("1"))))
        )
        return _around(written, lambda body: (wait, *body, tell))


def _around(
    loop: tuple[Stmt, ...], change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]
) -> tuple[Stmt, ...]:
    """A loop, or what one has that runs once, with its body changed."""
    match loop:
        case (For(body=body) as single,):
            return (replace(single, body=change(body)),)
        case (Declare() as here, *body):
            return (here, *change(tuple(body)))
    raise InternalError("bug in polymat: a loop is one statement, or declares its index")


def _first(nest: Nest) -> Instance:
    """The first statement within a nest."""
    while not isinstance(nest, Instance):
        nest = nest.body[0] if isinstance(nest, Loop) else nest.then[0]
    return nest


def _called(what: str, *arguments: CExpr) -> CExpr:
    return CCall(f"_pm_trail_{what}", (Id(TRAIL), *arguments))
