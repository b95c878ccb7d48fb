"""Options that were found by measuring: decisions about a program that nobody makes group by group."""

from __future__ import annotations

from dataclasses import replace

from polymat.decide.chosen import UnfitError
from polymat.errors import PolymatError
from polymat.graph.pipeline import Pipeline
from polymat.graph.selection import Changes, TunedChoice
from polymat.options import Options
from polymat.request import Request


def with_changes(options: Options, changes: Changes) -> Options:
    """The options with other values, and passes that are left out beside those that were.

    An `UnfitError` where these are no values of options.
    """
    given = dict(changes)
    skip = given.pop("skip", ())
    try:
        more = tuple(name for name in skip if name not in options.skip)  # type: ignore[union-attr]
        return replace(options, **given, skip=(*options.skip, *more))  # type: ignore[arg-type]
    except (PolymatError, TypeError) as error:
        text = ", ".join(f"{name}={value!r}" for name, value in changes)
        raise UnfitError(f"these are no options: {text}") from error


def carried_out(request: Request) -> Request:
    """The request with its options as they were found for it."""
    found = _changing(request)
    if found is None:
        return request
    return replace(request, options=with_changes(request.options, found.choice.changes))


def groups_found(request: Request) -> TunedChoice | None:
    """The groups that were found for a request; None where the compiler chooses them."""
    return None if _changing(request) is not None else request.found


def noted(pipeline: Pipeline, request: Request) -> Pipeline:
    """The pipeline with what is told of the options that were found for it."""
    found = _changing(request)
    if found is None or not found.told:
        return pipeline
    return replace(pipeline, notes=(*pipeline.notes, found.told))


def _changing(request: Request) -> TunedChoice | None:
    found = request.found
    return found if found is not None and found.choice.changes else None
