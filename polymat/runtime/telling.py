"""Additions of `Compiled.explain()` to the report of a compilation, and `Compiled.profile()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polymat.codegen.c.abi import Signature
from polymat.errors import PolymatError, counted
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
    added = [*_on_other_threads(report, threads), *copies]
    return replace(report, notes=(*report.notes, *added)) if added else report


def _on_other_threads(report: Any, threads: int) -> Iterator[str]:
    """The predicted time of calls from here, where they have other threads than were planned for."""
    seconds = report.seconds_on(threads) if threads != report.threads else None
    if seconds is not None:
        yield (
            f"calls from here have {counted(threads, 'thread')}, and {seconds:.3g} s are predicted "
            f"for them; the plans and all other figures are for {report.threads}: "
            f"Options(threads={threads}) makes others"
        )


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
