"""The libraries whose routines generated code may call, as a value that is handed to decisions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, Protocol, TypeAlias

from polymat.idiom.librarymodel import LibraryModel

Kind: TypeAlias = Literal["blas", "fft"]


class Libraries(Protocol):
    """Which routines there are, and how long they take."""

    def has(self, kind: Kind, routines: Collection[str]) -> bool:
        """Whether one library of a kind has all these routines, and those compute right results."""

    def model(self, kind: Kind) -> LibraryModel | None:
        """Measured times of the library of a kind; None without one, or where nothing was."""
