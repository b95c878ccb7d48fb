"""What searches among the ways of computing a program found: a file a program, one line a trial.

Lines are only ever added, each in one write that is on the disk before the next trial begins.  A process that
is killed leaves at most a part of a line, which readers leave out and the next writer ends.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.graph.selection import Selection, choice_data, choice_of
from polymat.machine.keptfile import open_regular, read_text, write_text
from polymat.runtime.cachedir import DIRECTORY_HINT, cache_directory, directory_trusted, prepare_directory
from polymat.runtime.filelock import bucket_lock
from polymat.runtime.settings import settings

DIRECTORY, SUFFIX = "tuned", ".jsonl"
_TRYING = ".trying"
_MOST_BYTES = 1 << 26
_WAIT_SECONDS = 5.0  # for another process that writes a line


@dataclass(frozen=True, slots=True)
class Trial:
    """One choice that was tried.

    sizes: by name.  predicted: seconds.  seconds, default: medians of calls by turns, of the choice and of
    what the compiler chooses by itself.  ratio: the median of their ratios.  rounds: turns of each.
    spent: seconds that compiling, checking and measuring took.
    fault: what is wrong with it, in words; it was not measured then.
    dropped: it was clearly slower than the best before all rounds.
    """

    choice: Selection
    sizes: Mapping[str, int]
    predicted: float
    seconds: float
    default: float
    ratio: float
    rounds: int
    spent: float
    fault: str = ""
    dropped: bool = False
    date: str = ""


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """The best trial of a search, measured again; `choice` is None where nothing is better.

    number: of the trial, from 1.  trials: how many there were.
    """

    choice: Selection | None
    sizes: Mapping[str, int]
    seconds: float
    default: float
    number: int
    trials: int
    date: str = ""


@dataclass(slots=True)
class TunedFile:
    """The trials and endings of one program; path: None where nothing is kept."""

    path: Path | None
    records: list[Trial | SearchEnd] = field(default_factory=list)

    def add(self, record: Trial | SearchEnd) -> None:
        """Keep a record: in the file, unless the cache is off or readonly, before this returns."""
        self.records.append(record)
        if self.path is not None and settings().cache_mode == "on":
            _append(self.path, _line(record))

    def begin(self, choice: Selection) -> int:
        """Note that a choice is about to be tried; how often that was noted before, with no end of it.

        A candidate may end the process, and would do so again whenever the search goes on.
        """
        if self.path is None or settings().cache_mode != "on":
            return 0
        note, data = self.path.with_suffix(_TRYING), choice_data(choice)
        before = 0
        with suppress(OSError, ValueError, TypeError, KeyError):
            noted = json.loads(read_text(note, most_bytes=_MOST_BYTES))
            before = int(noted["times"]) if choice_of(noted["choice"]) == choice else 0
        prepare_directory(self.path.parent.parent)
        prepare_directory(self.path.parent)
        write_text(note, json.dumps({"times": before + 1, "choice": data}))
        return before

    def done(self) -> None:
        """Take the note away."""
        if self.path is not None:
            self.path.with_suffix(_TRYING).unlink(missing_ok=True)


def tuned_path(key: str) -> Path:
    """The file of a program, by its key."""
    return cache_directory() / DIRECTORY / f"{key}{SUFFIX}"


def anything_tuned() -> bool:
    """Whether any search was made with this cache; asked by every compilation."""
    return settings().cache_mode != "off" and (cache_directory() / DIRECTORY).is_dir()


def read_tuned(key: str) -> TunedFile:
    """The records of a program; none where nothing is kept, or somebody else may have written it."""
    if settings().cache_mode == "off":
        return TunedFile(None)
    path = tuned_path(key)
    if not directory_trusted(path.parent):
        return TunedFile(path)
    try:
        with open_regular(path) as stream:
            data = stream.read(_MOST_BYTES)
    except OSError:
        return TunedFile(path)
    return TunedFile(path, [*_records(data)])


def tuned_digest(key: str) -> str:
    """A digest of the records of a program; "" where there are none."""
    path = tuned_path(key)
    if settings().cache_mode == "off" or not directory_trusted(path.parent):
        return ""
    try:
        with open_regular(path) as stream:
            return hashlib.sha256(stream.read(_MOST_BYTES)).hexdigest()
    except OSError:
        return ""


def tuned_state() -> tuple[tuple[str, int, int], ...]:
    """The files of all programs with their sizes and times: another state of them is told from this one."""
    found = []
    for path in tuned_files():
        with suppress(OSError):  # removed meanwhile
            status = path.stat()
            found.append((path.name, status.st_size, status.st_mtime_ns))
    return tuple(found)


def tuned_files() -> tuple[Path, ...]:
    """The files of all programs."""
    return tuple(sorted((cache_directory() / DIRECTORY).glob(f"*{SUFFIX}")))


def forget_tuned() -> int:
    """Remove all of them; how many there were."""
    removed = 0
    for path in tuned_files():
        try:
            path.unlink()
        except OSError:
            continue
        removed += 1
    return removed


def _line(record: Trial | SearchEnd) -> bytes:
    data = asdict(record) | {
        "kind": type(record).__name__,
        "choice": None if record.choice is None else choice_data(record.choice),
        "sizes": dict(record.sizes),
    }
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _append(path: Path, line: bytes) -> None:
    """Add a line behind all others, on the disk when this returns."""
    prepare_directory(path.parent.parent)
    prepare_directory(path.parent)
    try:
        with bucket_lock(path.with_suffix(".lock"), _WAIT_SECONDS):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(path, flags, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                os.write(descriptor, b"\n" + line if torn else line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise ToolchainError(
            f"cannot write {path}: {error.strerror or error}", hint=DIRECTORY_HINT
        ) from error


def _records(data: bytes) -> Iterator[Trial | SearchEnd]:
    for line in data.split(b"\n"):
        try:
            yield _record(json.loads(line))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue  # a part of a line, or another version's


def _record(data: Any) -> Trial | SearchEnd:
    fields = dict(data)
    kind = fields.pop("kind")
    choice = fields.pop("choice")
    fields["choice"] = None if choice is None else choice_of(choice)
    fields["sizes"] = {str(name): int(size) for name, size in fields["sizes"].items()}
    for name in ("seconds", "default"):
        fields[name] = float(fields[name])
    if kind == "SearchEnd":
        return SearchEnd(**fields)
    if kind != "Trial" or choice is None:
        raise ValueError(f"no record: {kind}")
    return Trial(**fields)
