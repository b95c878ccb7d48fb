"""What is compiled for where nothing else is said: this machine, with the libraries that it has."""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar

from polymat.dataclass import dataclass
from polymat.idiom.librarymodel import Kind, Libraries, LibraryModel
from polymat.machine.model import Machine
from polymat.runtime.calibration import calibrated_machine
from polymat.runtime.librarystore import library_model
from polymat.runtime.providers import provider_with


@dataclass(frozen=True, slots=True)
class InstalledLibraries:
    """The libraries that this process finds, each looked for when it is first asked about."""

    def has(self, kind: Kind, routines: Collection[str]) -> bool:
        """Whether the library has them all, tried out; a `ToolchainError` where the user's cannot be used."""
        return provider_with(kind, routines) is not None

    def model(self, kind: Kind) -> LibraryModel | None:
        """Measured times of the library that are kept; a `ToolchainError` where the user's cannot be used."""
        return library_model(kind)


@dataclass(frozen=True, slots=True)
class Host:
    """A machine and its libraries; no machine stands for this one as it was measured."""

    machine: Machine | None = None
    libraries: Libraries = InstalledLibraries()

    def described(self) -> Machine:
        """The machine, measured or stated."""
        return calibrated_machine() if self.machine is None else self.machine


_THIS = Host()
# What is compiled for now, in this thread: this machine, unless somebody says another.
HOST: ContextVar[Host] = ContextVar("HOST", default=_THIS)
