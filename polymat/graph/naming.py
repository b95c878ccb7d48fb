"""One name for everything in a pipeline, given while it is built."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from polymat.errors import NameClashError
from polymat.lang.algebra import Result
from polymat.lang.expr import Parameter
from polymat.lang.function import CaseEntry, Function, Input, Source
from polymat.lang.names import MAX_LENGTH
from polymat.lang.reduction import ReduceEntry
from polymat.lang.traverse import loads_in

MOST_OPERANDS = 2


def name_sources(
    outputs: Sequence[Function],
    functions: Sequence[Function],
    inputs: Sequence[Input],
    parameters: Collection[str],
) -> dict[int, str]:
    """Names by identity; unnamed results are named after what they read or are, outputs `out`.

    Names that the user gave, those of parameters as well, are none of these.
    """
    names = {id(source): source.name for source in (*inputs, *functions) if source.name is not None}
    taken = {*names.values(), *parameters}
    for function in functions:
        if id(function) not in names:
            wish = "out" if any(function is o for o in outputs) else function.wish or _wish(function)
            name, count = wish, 1
            while name in taken:
                count += 1
                name = f"{wish}_{count}"
            taken.add(name)
            names[id(function)] = name
    return names


def _wish(function: Function) -> str:
    """A readable name: what it is made of, where that has names and is short, or else how it is made."""
    entries = [e.value if isinstance(e, CaseEntry) else e for e in function.defn]
    values = [e.value if isinstance(e, ReduceEntry) else e for e in entries]
    read = [n.source for v in values for n in loads_in(v) if n.source is not function]
    words = list(dict.fromkeys(source.name for source in read))
    if not words or None in words or len(words) > MOST_OPERANDS:
        made = made_by(function.text) if isinstance(function, Result) else ""
        words = [made] if made else []
    return "_".join(["tmp", *(str(word) for word in words)])[: MAX_LENGTH - 8]


def made_by(formula: str) -> str:
    """The last function or method in a formula, `fir` in `x.down(2).fir(9 taps)`, or ""."""
    if formula.endswith(" constants)"):
        return "constants"
    open_at, depth = len(formula), 0
    for at in reversed(range(len(formula))):
        depth += {")": 1, "(": -1}.get(formula[at], 0)
        if depth == 0:
            open_at = at
            break
    found = re.search(r"[A-Za-z]\w*$", formula[:open_at]) if formula.endswith(")") else None
    return found[0] if found else ""


def check_clashes(names: dict[int, str], sources: Sequence[Source], parameters: Sequence[Parameter]) -> None:
    """Two different things must not have one name."""
    owners: dict[str, Source | Parameter] = {}
    items: list[Source | Parameter] = [*sources, *parameters]
    for item in items:
        name = names[id(item)] if isinstance(item, Source) else item.name
        other = owners.setdefault(name, item)
        if other is not item:
            where = f", the first at {other.at}" if other.at else ""
            raise NameClashError(
                f"two things are named {name}: {_kind(other)} and {_kind(item)}{where}", at=item.at
            )


def check_call_names(arrays: Sequence[Input], parameters: Sequence[Parameter]) -> None:
    """`out=` of a call is the array for the output: nothing else that is passed may have that name."""
    items: list[Source | Parameter] = [*arrays, *parameters]
    for item in items:
        if item.name == "out":
            raise NameClashError(
                f"{_kind(item)} is named out, but out= of a call is the array for the output",
                at=item.at,
                hint="give it another name",
            )


def _kind(item: Source | Parameter) -> str:
    what = item.what if isinstance(item, Source) else "Parameter"
    return f"{'an' if what[0] in 'AEIOU' else 'a'} {what}"
