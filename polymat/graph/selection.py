"""Decisions found by measuring, as data that can be kept: a partition, and how each group is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from polymat.dataclass import dataclass

Registers = tuple[tuple[int, int, int], ...]
"""Bytes of an element, rows and vectors of its register blocks: of a program, one for each type."""
Change = tuple[str, bool | int | str | tuple[int | str, ...]]
Changes = tuple[Change, ...]
"""Names of options, in their order, with other values."""


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """How one group is computed.

    stages: of the group, producers first.  way: one of its plans, by the name that tells them apart.
    sizes: of its tiles, outermost first; none for those that the plan has.
    blocks: kc, mc, nc and small of its products, as in `Blocks`; none for those that the plan has.
    scheme: the loops of a contraction, as `Options.scheme` has them; empty where the way says all.
    """

    stages: tuple[str, ...]
    way: str
    sizes: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    scheme: str = ""

    def __str__(self) -> str:
        text = f"{'+'.join(self.stages)}: {self.way}{f' {self.scheme}' if self.scheme else ''}"
        text += f", tiles of {' x '.join(map(str, self.sizes))}" if self.sizes else ""
        if not self.blocks:
            return text
        kc, mc, nc, small = self.blocks
        return f"{text}, blocks of kc {kc}, mc {mc}, nc {nc}, near below {small}"


@dataclass(frozen=True, slots=True)
class Selection:
    """How a program is computed: its groups in an order in which they can run, and its register blocks.

    changes: or, without groups, options with which the compiler chooses these by itself.
    """

    groups: tuple[GroupChoice, ...]
    registers: Registers = ()
    changes: Changes = ()

    def __str__(self) -> str:
        if self.changes:
            return ", ".join(f"{name}={value!r}" for name, value in self.changes)
        blocks = (
            f"register blocks of {rows} rows x {vectors} vectors" for _, rows, vectors in self.registers
        )
        return "; ".join([*map(str, self.groups), *blocks])


@dataclass(frozen=True, slots=True)
class TunedChoice:
    """A choice that was found by measuring, and what the user is told of it.

    sizes: at which it was measured, by name.
    """

    choice: Selection
    sizes: Mapping[str, int]
    told: str = ""


def choice_data(choice: Selection) -> dict[str, Any]:
    """A choice as a value of JSON."""
    return asdict(choice)


def choice_of(data: Any) -> Selection:
    """The choice of such a value; a `ValueError` where it is none."""
    try:
        groups = tuple(
            GroupChoice(
                tuple(map(_text, each["stages"])),
                _text(each["way"]),
                tuple(map(_count, each["sizes"])),
                tuple(map(_count, each["blocks"])),
                _text(each.get("scheme", "")),
            )
            for each in data["groups"]
        )
        registers = tuple((_count(s), _count(r), _count(v)) for s, r, v in data["registers"])
        changes = tuple((_text(name), _value(value)) for name, value in data.get("changes", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no choice: {error}") from error
    if any(len(group.blocks) not in (0, 4) or not group.stages for group in groups):
        raise ValueError("no choice: a group without stages, or blocks that are not four")
    if changes and groups:
        raise ValueError("no choice: groups beside options with which they are chosen")
    return Selection(groups, registers, changes)


def _value(value: Any) -> bool | int | str | tuple[int | str, ...]:
    """The value of an option."""
    if isinstance(value, bool | int | str):
        return value
    return tuple(_text(each) if isinstance(each, str) else _count(each) for each in value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**48:
        raise TypeError(f"{value!r:.40} is no count")
    return value
