"""The version of the package, which stands in pyproject.toml and in what is installed alone."""

from __future__ import annotations

UNKNOWN = "0+unknown"  # of a tree that nobody installed


def release() -> str:
    """The version that is installed."""
    from importlib import metadata  # which takes longer to import than what was saved to load

    try:
        return metadata.version("polymat")
    except metadata.PackageNotFoundError:
        return UNKNOWN
