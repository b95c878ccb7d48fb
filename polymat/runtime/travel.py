"""Compiled pipelines in pickles: the library's bytes, what describes them, and a digest of both.

Whoever can forge a pickle runs code in the process that reads it; the digest is against damage, and is
checked before anything is opened or compiled.  On the processor that it was compiled for, or one that can do
as much, the library goes through the cache, so that all processes of a machine share one file.  On another it
is compiled again from its C.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.runtime.cache import cache_key, fetch_or_build
from polymat.runtime.cpu import missing_features, native_cpu
from polymat.runtime.metadata import Metadata, MetadataError, from_json, to_json
from polymat.runtime.saved import digest

_FORMAT = "polymat pickle 1"
_HINT = "pickle the pipeline again, with this version"


@dataclass(frozen=True, slots=True)
class Parcel:
    """A pipeline on its way.

    flags: what its C is compiled with besides the flags of every program; None where nobody knows, as of a
    pipeline that was loaded from a file.
    """

    metadata: Metadata
    image: bytes
    flags: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A pipeline that can be opened; `scratch` is to be removed once it has been."""

    metadata: Metadata
    image: bytes
    path: Path
    scratch: Path | None


def packed(parcel: Parcel) -> tuple[str, str, bytes]:
    """The contents of a pickle: digest, description and library."""
    flags = None if parcel.flags is None else list(parcel.flags)
    text = json.dumps([_FORMAT, to_json(parcel.metadata), flags])
    return _seal(text, parcel.image), text, parcel.image


def unpacked(seal: object, text: object, image: object) -> Parcel:
    """Verify what `packed` made; a `ToolchainError` for anything else."""
    if not (isinstance(seal, str) and isinstance(text, str) and isinstance(image, bytes)):
        raise ToolchainError("a pickled pipeline is not what it should be", hint=_HINT)
    if seal != _seal(text, image):
        raise ToolchainError("a pickled pipeline is damaged: its SHA-256 is another one", hint=_HINT)
    try:
        written, described, flags = json.loads(text)
        if written != _FORMAT:
            raise MetadataError(f"its format is not {_FORMAT!r}")
        metadata = from_json(described)
    except (MetadataError, ValueError, TypeError) as error:
        raise ToolchainError(f"a pickled pipeline is not usable: {error}", hint=_HINT) from None
    if metadata.sha256 != digest(image):
        raise ToolchainError(f"the pickled library of {metadata.signature.name} is another one", hint=_HINT)
    return Parcel(metadata, image, None if flags is None else tuple(flags))


def arrive(parcel: Parcel) -> Arrival:
    """Put the library where it can be opened, compiled again where this processor is another one."""
    metadata = parcel.metadata
    missing = missing_features(metadata.cpu) if metadata.cpu else ()
    if missing:
        return _rebuilt(parcel, missing)

    def write(path: Path) -> None:
        path.write_bytes(parcel.image)

    fetched = fetch_or_build(cache_key(f"library {metadata.sha256}", (), "", ""), write)
    return Arrival(metadata, fetched.image, fetched.path, fetched.scratch)


def _rebuilt(parcel: Parcel, missing: tuple[str, ...]) -> Arrival:
    from polymat.runtime.libraryfile import build  # imported where something is compiled

    metadata = parcel.metadata
    name, features = metadata.signature.name, ", ".join(missing)
    lacks = f"{name} was compiled for a processor with {features}, which this one lacks"
    if parcel.flags is None or not metadata.source:
        raise ToolchainError(
            f"{lacks}, and it was loaded from a file, which does not say how to compile it again",
            hint="compile the pipeline again on this machine",
        )
    try:
        built = build(metadata.source, program_flags=parcel.flags)
    except ToolchainError as error:
        raise ToolchainError(f"{lacks}, and it cannot be compiled again: {error}") from error
    here = replace(metadata, sha256=digest(built.image), size=len(built.image), cpu=native_cpu())
    return Arrival(here, built.image, built.path, built.scratch)


def _seal(text: str, image: bytes) -> str:
    data = text.encode()
    return hashlib.sha256(len(data).to_bytes(8, "little") + data + image).hexdigest()
