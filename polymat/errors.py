"""Every exception polymat raises on purpose, and where in the user's file it came from."""

from __future__ import annotations

import linecache
import sys
from types import FrameType
from typing import NoReturn

from polymat.dataclass import dataclass

# Modules that nobody asks what they did: our own, those of NumPy that hand its functions on to our objects,
# Python below `python -m polymat` (frozen since 3.11), and where `replace` makes a data class.
_OURS = "polymat."
_NOT_THE_USER = (_OURS, "numpy.", "runpy.", "dataclasses.", "importlib.")


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def quote(self) -> str:
        """Return the source line itself, or an empty string when it cannot be read."""
        return linecache.getline(self.file, self.line).strip()


def counted(number: object, what: str, several: str = "") -> str:
    """A number, or a form of sizes, and what there are so many of: "1 index", "2 indices"."""
    return f"{number} {what if str(number) == '1' else several or what + 's'}"


def module_of(frame: FrameType) -> str:
    """The name of the module that a frame runs, also under `python -m`, with a full stop behind it."""
    spec = frame.f_globals.get("__spec__")
    return f"{frame.f_globals.get('__name__', '') if spec is None else spec.name}."


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of this package."""
    return module_of(frame).startswith(_OURS)


def caller_location() -> Location | None:
    """The innermost line outside polymat on the present call stack; None where nobody wrote one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not module_of(frame).startswith(_NOT_THE_USER):
            return Location(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


class PolymatError(Exception):
    """Root of the tree.

    The text says what is wrong with both values; `at` where in the user's file; `hint` what to do.
    """

    def __init__(self, message: str, *, at: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = at
        self.hint = hint

    def at(self, location: Location | None) -> PolymatError:
        """Return self, located unless it already was."""
        if self.location is None:
            self.location = location
        return self

    def __str__(self) -> str:
        lines = []
        if self.location is not None:
            lines.append(f"{self.location}: {self.message}")
            quoted = self.location.quote()
            if quoted:
                lines.append(f"    {quoted}")
        else:
            lines.append(self.message)
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class PolymatWarning(UserWarning):
    """Something that is allowed, and probably not what a user of NumPy means."""


class LangError(PolymatError):
    """The program described by the user is wrong."""


class ShapeError(LangError, ValueError):
    """Extents cannot agree."""


class DtypeError(LangError, TypeError):
    """Element types cannot agree, or a value would silently lose its kind."""


class BoundsError(LangError, IndexError):
    """An access leaves the domain of what it reads or writes."""


class NotAffineError(LangError):
    """An index, a bound or a case condition is not affine."""


class CoverageError(LangError):
    """A point of a domain is defined twice or never."""


class CycleError(LangError):
    """Definitions depend on each other, or on themselves, in no order that could be run."""


class NameClashError(LangError):
    """Two different things have one name."""


class InvalidNameError(LangError, ValueError):
    """A name that cannot be used in the generated C."""


class UndefinedError(LangError):
    """A function is used but was never given a definition."""


class NoAttributeError(LangError, AttributeError):
    """An array that is described has no attribute of this name, though those of NumPy have."""


class OptionError(LangError, TypeError):
    """`Options` has no field of this name, or one has no effect."""


class ArgumentError(PolymatError, ValueError):
    """A compiled pipeline was called with something it does not accept."""


class ToolchainError(PolymatError, OSError):
    """The C compiler, a library or the cache directory could not do its part."""

    def __init__(
        self,
        message: str,
        *,
        command: tuple[str, ...] = (),
        stderr: str = "",
        source_path: str = "",
        hint: str = "",
    ) -> None:
        PolymatError.__init__(self, message, hint=hint)
        self.command = command
        self.stderr = stderr
        self.source_path = source_path

    def __str__(self) -> str:
        lines = [self.message]
        if self.command:
            lines.append("command: " + " ".join(self.command))
        if self.source_path:
            lines.append(f"source kept at: {self.source_path}")
        if self.stderr:
            lines.append(self.stderr.rstrip())
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class InternalError(PolymatError):
    """A bug in polymat: please report it with the message."""


def unreachable(value: NoReturn) -> NoReturn:
    """Mark the last case of a closed union (`typing.assert_never`, also before Python 3.11)."""
    raise InternalError(f"bug in polymat: unexpected {value!r}")


def unexpected(error: Exception, doing: str, at: Location | None) -> InternalError:
    """The error for an exception that nobody meant to raise, with the line of polymat it came from."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        frame = trace.tb_frame
        if is_ours(frame):
            place = f" ({module_of(frame)}py:{trace.tb_lineno}, {frame.f_code.co_name})"
        trace = trace.tb_next
    return InternalError(
        f"bug in polymat: {doing} failed with {type(error).__name__}: {error}{place}",
        at=at,
        hint="please report it with the program; Options.naive() leaves most passes out",
    )
