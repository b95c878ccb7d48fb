"""Pipelines in a directory: lib<name>.so, <name>.h, <name>.json and what build systems find them by."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from polymat.dataclass import dataclass
from polymat.errors import ArgumentError, ToolchainError
from polymat.machine.keptfile import open_regular
from polymat.runtime.buildfiles import build_files
from polymat.runtime.cpu import missing_features
from polymat.runtime.metadata import Metadata, MetadataError, from_json, to_json

# Contents seen under a path, in order.  The dynamic loader answers with the library it already has when it
# hears the same path again, whatever is in the file by now: other contents get another spelling of the path.
_contents_at: dict[str, list[str]] = {}


def write_saved(directory: Path, library: bytes, metadata: Metadata, *, overwrite: bool = False) -> Path:
    """Write the files, each in one step, the metadata last; the path of the metadata.

    overwrite: take the place of another program of this name.
    """
    _check_path(directory, "save")
    name = metadata.signature.name
    target = directory / f"{name}.json"
    if not overwrite:
        _check_place(target, metadata)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write(directory / metadata.library, library, 0o755)
        _write(directory / f"{name}.h", metadata.header.encode(), 0o644)
        for file, text in build_files(name, metadata.library).items():
            _write(directory / file, text.encode(), 0o644)
        _write(target, to_json(metadata).encode(), 0o644)
    except OSError as error:
        raise ToolchainError(f"cannot save {name} in {directory}: {error}") from error
    return target


def _check_place(target: Path, metadata: Metadata) -> None:
    """Refuse to take the place of another program; one of the same C text is the same."""
    try:
        there = from_json(_contents(target).decode())
    except (OSError, MetadataError, UnicodeDecodeError):
        return  # nothing, or nothing that could be loaded
    is_same = there.source == metadata.source if there.source else there.sha256 == metadata.sha256
    if not is_same or there.signature != metadata.signature:
        raise ArgumentError(
            f"save(): {target} is another program of the name {metadata.signature.name}",
            hint="compile(..., name=) gives another name, save(..., overwrite=True) replaces the program",
        )


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved pipeline that was verified: its metadata, its code, and a path to open the code by."""

    metadata: Metadata
    library: str
    image: bytes


def read_saved(path: Path) -> Saved:
    """Read and verify a saved pipeline; nothing is opened yet: a truncated library would kill the process."""
    _check_path(path, "load")
    _check_kind(path)
    try:
        metadata = from_json(_contents(path).decode())
    except OSError as error:
        raise ToolchainError(f"cannot read {path}: {error.strerror}") from error
    except (MetadataError, UnicodeDecodeError) as error:
        raise ToolchainError(f"{path} is not usable: {error}", hint="save the pipeline again") from None
    library = path.resolve().parent / metadata.library
    try:
        contents = _contents(library)
    except OSError as error:
        raise ToolchainError(
            f"cannot read {library}, the code of {path}: {error.strerror}",
            hint="keep the saved files together",
        ) from error
    _check_contents(library, contents, metadata)
    _check_cpu(path, metadata)
    return Saved(metadata, _unambiguous(library, metadata.sha256), contents)


def _check_path(path: Path, purpose: str) -> None:
    if "\0" in str(path):
        raise ArgumentError(f"{purpose}(): the path {str(path)!r} has a NUL in it, which no file name has")


def _contents(path: Path) -> bytes:
    with open_regular(path, ours=False) as stream:
        return stream.read()


def _check_kind(path: Path) -> None:
    """Refuse a directory and a library, naming the file that is meant."""
    if path.is_dir():
        found = sorted(item.name for item in path.glob("*.json"))
        hint = f"it has {', '.join(found[:3])}" if found else "it has none: save() writes one"
        raise ToolchainError(f"{path} is a directory: load() takes the .json file in it", hint=hint)
    if path.suffix in (".so", ".h"):
        json = path.with_name(f"{path.stem.removeprefix('lib')}.json")
        raise ToolchainError(f"{path}: load() takes the .json file beside it", hint=f"load({str(json)!r})")


def digest(contents: bytes) -> str:
    """The SHA-256 of a library, as metadata has it."""
    return hashlib.sha256(contents).hexdigest()


def _check_contents(library: Path, contents: bytes, metadata: Metadata) -> None:
    if len(contents) != metadata.size:
        found = f"it has {len(contents)} bytes instead of {metadata.size}"
    elif digest(contents) != metadata.sha256:
        found = "its SHA-256 is not the one in the metadata"
    else:
        return
    raise ToolchainError(
        f"{library} is damaged or belongs to another pipeline: {found}", hint="save the pipeline again"
    )


def _check_cpu(path: Path, metadata: Metadata) -> None:
    missing = missing_features(metadata.cpu) if metadata.cpu else ()
    if missing:
        raise ToolchainError(
            f"{path} was compiled for a processor with {', '.join(missing)}, which this one lacks",
            hint="compile the pipeline again on this machine",
        )


def _unambiguous(library: Path, sha256: str) -> str:
    seen = _contents_at.setdefault(str(library), [])
    if sha256 not in seen:
        seen.append(sha256)
    return os.path.join(library.parent, *["."] * seen.index(sha256), library.name)


def _write(path: Path, contents: bytes, mode: int) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(contents)
            os.fchmod(stream.fileno(), mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
