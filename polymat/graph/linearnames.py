"""The names of what a block of linear steps is written with, none of them another thing's."""

from __future__ import annotations

from collections.abc import Mapping, Set

from polymat.dataclass import dataclass
from polymat.graph.linearrows import LinearStep
from polymat.graph.splice import free_name


@dataclass(frozen=True, slots=True, eq=False)
class BlockNames:
    """Names of the numbers, dimensions, arrays and stages of a block.

    begin, end: the first step and the last one.  panel: the slices that the block is about.  depth: the
    dimension of the steps of a block.  added: sums of rows that all steps add to, and that some do.
    of_multiples: what helpers are in the places of multiples, by their own names.
    read: arrays as stages read them, by "name before", "name last" and "name all".
    """

    begin: str
    end: str
    panel: str
    multiples: str
    source: str
    moved: str
    crossing: str
    gathered: str
    depth: str
    added: tuple[str, str]
    of_multiples: Mapping[str, str]
    read: Mapping[str, str]


def block_names(step: str, found: LinearStep, taken: Set[str]) -> BlockNames:
    """Free names for a block of steps that are counted by a name.  taken: names of everything around."""
    used, state = {*taken}, found.state.name

    def free(name: str) -> str:
        used.add(made := free_name(name, used))
        return made

    begin, end = free(f"{step}_from"), free(f"{step}_upto")
    words = ("slices", "multiples", "source", "moved", "crossing", "gathered")
    panel, multiples, source, moved, crossing, gathered = (free(f"{state}_{word}") for word in words)
    arrays = (panel, multiples, source, moved, crossing, gathered)
    depth = free(f"{step}_in")
    read = {f"{name} {word}": free(f"{name}_{word}") for name in arrays for word in ("before", "last", "all")}
    helpers = {each.name: free(f"{each.name}_of_multiples") for each in found.helpers}
    added = free(f"{state}_added"), free(f"{state}_added_by_some")
    return BlockNames(
        begin=begin,
        end=end,
        panel=panel,
        multiples=multiples,
        source=source,
        moved=moved,
        crossing=crossing,
        gathered=gathered,
        depth=depth,
        added=added,
        of_multiples=helpers,
        read=read,
    )
