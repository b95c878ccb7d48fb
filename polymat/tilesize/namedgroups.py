"""Which schemes of the stages of a group count, and whether it is the group that one of them names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit, read_scheme


def misfit_of_group(stages: Sequence[str], name: str, scheme: Scheme) -> Misfit | None:
    """Why a group of stages is not the one that the scheme of one of them names."""
    if not scheme.fused or {*scheme.fused, name} == {*stages}:
        return None
    others = [each for each in stages if each != name]
    with_whom = f"shares its loops with {', '.join(others)}" if others else "runs by itself"
    hint = "explain() lists the groups that were considered, and why others were refused"
    return Misfit(f"{name} {with_whom}, not with {', '.join(sorted(scheme.fused))}", hint)


def counting(stages: Sequence[str], texts: Mapping[str, str]) -> dict[str, str]:
    """The schemes that count in a group, by stage: where one names just this group, none that names another.

    A stage of several sections may share its loops in each of them with others, or with none: force(t) with
    pull(t) at the first step, with pull(t) and v(t), whose scheme says so, at all others.
    """
    found = {name: texts[name] for name in stages if name in texts}
    read = ((name, read_scheme(text)) for name, text in found.items())
    schemes = {name: scheme for name, scheme in read if isinstance(scheme, Scheme)}
    elsewhere = {name for name, scheme in schemes.items() if _is_of_another(stages, name, scheme)}
    if not any(scheme.fused for name, scheme in schemes.items() if name not in elsewhere):
        return found
    return {name: text for name, text in found.items() if name not in elsewhere}


def _is_of_another(stages: Sequence[str], name: str, scheme: Scheme) -> bool:
    """Whether the scheme of a stage of a group is for another group, or for the stage by itself."""
    kinds = {loop.kind for loop in scheme.loops}
    alone = not scheme.fused and "Par" in kinds and "T" not in kinds
    return misfit_of_group(stages, name, scheme) is not None or (alone and len(stages) > 1)
