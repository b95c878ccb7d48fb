"""What programs are to those who load them, kept beside libraries by what was asked for.

Who asks for the same again needs no pass of the compiler, nor the modules that they are made of.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
from collections.abc import Collection, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from polymat.codegen.c.abi import Signature
from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.graph.selection import TunedChoice
from polymat.idiom.librarymodel import Kind, Libraries, LibraryModel
from polymat.quickimport import BEGUN
from polymat.request import Request
from polymat.runtime.cache import cache_key, fetch, replace_kept
from polymat.runtime.cacheroom import OUTLINE
from polymat.runtime.cpu import native_cpu
from polymat.runtime.settings import settings
from polymat.runtime.tunedstore import anything_tuned, tuned_digest

# A kind of library, the routines that were asked for, None for measured times, and a digest of the answer.
Answers: TypeAlias = tuple[tuple[Kind, tuple[str, ...] | None, str], ...]

_log = logging.getLogger("polymat.cache")
_DECIDING = ("polymat", "islpy", "numpy")  # the packages whose code decides what a program is
_NEGLIGIBLE = "__pycache__"


@dataclass(frozen=True, slots=True)
class Outline:
    """A program without what it was made of.

    source, header: its C text and the prototype.  flags: of the C compiler, beside those of every program.
    answers: what was asked of libraries when it was decided, each with a digest of the answer.
    definitions: a digest of what it computes.  records: one of what searches for it had found.  found: what
    was carried out of that.
    """

    signature: Signature
    source: str
    header: str
    flags: tuple[str, ...]
    answers: Answers = ()
    definitions: str = ""
    records: str = ""
    found: TunedChoice | None = None

    def holds(self, request: Request) -> bool:
        """Whether libraries answer as they did then, and no search for this program found anything since."""
        libraries = request.libraries
        return self.records == records_for(self.definitions, request) and all(
            answer == _digest(libraries.model(kind) if routines is None else libraries.has(kind, routines))
            for kind, routines, answer in self.answers
        )


class NotedLibraries:
    """Libraries whose answers are written down; of a question that raised an error no answer is the same."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._answers: dict[tuple[Kind, tuple[str, ...] | None], str] = {}

    def has(self, kind: Kind, routines: Collection[str]) -> bool:
        """Whether they have routines."""
        asked = kind, tuple(sorted(routines))
        self._answers[asked] = ""
        found = self._libraries.has(kind, routines)
        self._answers[asked] = _digest(found)
        return found

    def model(self, kind: Kind) -> LibraryModel | None:
        """Their measured times."""
        self._answers[kind, None] = ""
        found = self._libraries.model(kind)
        self._answers[kind, None] = _digest(found)
        return found

    @property
    def answers(self) -> Answers:
        """Questions that were asked so far, each with a digest of the answer."""
        return tuple((kind, routines, answer) for (kind, routines), answer in self._answers.items())


def records_for(definitions: str, request: Request) -> str:
    """A digest of what searches found for a program, "" where nothing counts; definitions: its digest."""
    if settings().tuned_mode == "off" or not anything_tuned():
        return ""
    from polymat.runtime.tunedkey import tuned_key  # imported where something was tuned

    return tuned_digest(tuned_key(definitions, request))


def _digest(answer: LibraryModel | bool | None) -> str:
    return hashlib.sha256(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)).hexdigest()


def outline_key(asked: bytes) -> str | None:
    """The key of what was asked for; None where nothing is kept, or nobody knows who decides."""
    if settings().cache_mode == "off":
        return None
    deciders = [_identity(package) for package in _DECIDING]
    if None in deciders:
        return None
    packages = "\0".join(map(str, deciders))
    return cache_key(asked.hex(), ("outline", sys.version, packages), "", native_cpu())


def kept_outline(key: str) -> Outline | None:
    """The outline that is kept as `key`, if there is one."""
    found = fetch(key, OUTLINE)
    if found is None:
        return None
    outline = pickle.loads(found.image)  # to be trusted as much as a library
    assert isinstance(outline, Outline)
    return outline


def keep_outline(key: str, outline: Outline, library: Path) -> None:
    """Keep an outline beside its library, in the place of one that holds no longer, unless that cannot be."""
    if settings().cache_mode != "on":
        return
    try:
        replace_kept(key, pickle.dumps(outline, pickle.HIGHEST_PROTOCOL), OUTLINE, library)
    except ToolchainError as error:
        _log.debug("not kept: %s", error)


# The files of a process stay as they were imported.
@cache
def _identity(package: str) -> str | None:
    """What changes whenever a file of a package does: names, sizes and times; None without files.

    None as well where one was changed since this process began: nobody knows which of the two it imported.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        return None
    root = Path(spec.origin).parent
    if package != "polymat":  # its own parts are as old as the file that says its version
        files = sorted((each.name, *_dated(each)) for each in os.scandir(root) if each.is_file())
    else:
        files = sorted(_every(root))
    return None if any(changed > BEGUN for _, _, changed in files) else f"{root} {files}"


def _every(directory: Path) -> Iterator[tuple[str, int, int]]:
    """The files below a directory."""
    with os.scandir(directory) as listing:
        for item in listing:
            if item.is_file():
                yield (item.path, *_dated(item))
            elif item.is_dir() and item.name != _NEGLIGIBLE:
                yield from _every(Path(item.path))


def _dated(item: os.DirEntry[str]) -> tuple[int, int]:
    status = item.stat()
    return status.st_size, status.st_mtime_ns
