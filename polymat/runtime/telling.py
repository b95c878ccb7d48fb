"""Additions of `Compiled.explain()` to the report of a compilation, and `Compiled.profile()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polymat.codegen.c.abi import Signature
from polymat.errors import PolymatError
from polymat.runtime.diagnose import bind, match_arguments

if TYPE_CHECKING:
    from polymat.codegen.profile import Profile
    from polymat.lang.expr import Parameter


def told(
    report: Any,
    name: str,
    sizes: Mapping[Parameter, int] | None,
    threads: int,
    copies: Sequence[str],
    profile: Profile | None,
) -> Any:
    """The report with what calls have shown since; a text for a pipeline that comes from a file.

    sizes: products are told at these, on so many threads.  copies: made of large arguments.
    """
    if sizes is not None:
        if report is None or isinstance(report, str):
            raise PolymatError(
                f"{name}: a pipeline that comes from a file says nothing of other sizes",
                hint="compile it from its definition",
            )
        report = report.at(sizes, threads)
    if report is None:
        return None
    if isinstance(report, str):
        return "\n".join([report, *copies])
    if profile is not None:
        report = replace(report, profile=profile)
    return replace(report, notes=(*report.notes, *copies)) if copies else report


def measured(
    profiler: Callable[[Mapping[str, Any], Mapping[str, int], int], Profile] | None,
    signature: Signature,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    threads: int,
) -> Profile:
    """Check a call, and let a profiler measure it."""
    if profiler is None:
        raise PolymatError(
            f"{signature.name}: a pipeline that comes from a file has no profile",
            hint="compile it from its definition",
        )
    sizes, given = bind(signature, args, kwargs).sizes, match_arguments(signature, args, kwargs)
    if given.pop("out", None) is not None:
        raise PolymatError(f"{signature.name}: profile() keeps no results and takes no out=")
    return profiler(given, sizes, threads)
