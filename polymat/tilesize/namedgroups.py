"""Which schemes of the stages of a group count, and whether it is the group that one of them names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit, read_scheme

_BETWEEN = re.compile(r"(?<=\])\s*\|\s*(?=\[)")  # schemes of one stage


def misfit_of_group(stages: Sequence[str], name: str, scheme: Scheme) -> Misfit | None:
    """Why a group of stages is not the one that the scheme of one of them names."""
    if not scheme.fused or {*scheme.fused, name} == {*stages}:
        return None
    others = [each for each in stages if each != name]
    with_whom = f"shares its loops with {', '.join(others)}" if others else "runs by itself"
    hint = "explain() lists the groups that were considered, and why others were refused"
    return Misfit(f"{name} {with_whom}, not with {', '.join(sorted(scheme.fused))}", hint)


def alternatives(text: str) -> tuple[str, ...]:
    """The schemes that a stage is given, `[...] | [...]`: one for each of its sections that has others."""
    return tuple(_BETWEEN.split(text))


def counting(stages: Sequence[str], texts: Mapping[str, str]) -> dict[str, str]:
    """The schemes that count in a group, by stage: of several of a stage the first one."""
    return {name: each[0] for name, each in all_counting(stages, texts).items()}


def all_counting(stages: Sequence[str], texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The schemes that count in a group, by stage: where one names just this group, none that names another.

    A stage of several sections may share its loops in each of them with others, or with none: force(t) with
    pull(t) at the first step, with pull(t) and v(t), whose scheme says so, at all others.
    """
    found = {name: alternatives(texts[name]) for name in stages if name in texts}
    if not found:
        return {}
    here = {
        name: tuple(t for t in each if not _is_elsewhere(stages, name, t)) for name, each in found.items()
    }
    if any(scheme.fused for each in here.values() for scheme in schemes_among(each)):
        return {name: each for name, each in here.items() if each}
    return {name: here[name] or each for name, each in found.items()}


def fused_in(text: str) -> frozenset[str]:
    """The stages that schemes of one stage name to share its loops."""
    return frozenset(name for scheme in schemes_among(alternatives(text)) for name in scheme.fused)


def schemes_among(texts: Iterable[str]) -> Iterator[Scheme]:
    """Those of some texts that are schemes."""
    for found in map(read_scheme, texts):
        if isinstance(found, Scheme):
            yield found


def is_of_another(stages: Sequence[str], name: str, scheme: Scheme) -> bool:
    """Whether the scheme of a stage of a group is for another group, or for the stage by itself.

    Loops that threads share, and no tiles around them, are those of a stage by itself.
    """
    shared = any(loop.kind == "Par" for loop in scheme.loops)
    alone = len(stages) > 1 and shared and not says_tiles(scheme)
    return alone or misfit_of_group(stages, name, scheme) is not None


def says_tiles(scheme: Scheme) -> bool:
    """Whether a scheme says something of the tiles of a group: their stages, sizes or order."""
    ways = any(map(scheme.words, ("fuse", "roll", "back")))
    return ways or any(loop.kind == "T" for loop in scheme.loops)


def _is_elsewhere(stages: Sequence[str], name: str, text: str) -> bool:
    return any(is_of_another(stages, name, scheme) for scheme in schemes_among([text]))
