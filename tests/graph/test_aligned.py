"""Stages in tiles: how many of their points a tile computes, and what is said of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from polymat.graph.aligned import Alignment, Fusable, Member, grid


def computed(member: Member, size: int) -> set[int]:
    """The points of a stage along the first dimension of a tile at 0, one by one."""
    (before, behind), scale = member.margins[0], member.scale(0)
    return {point // scale for point in range(-before, size + behind) if point % scale == 0}


@pytest.mark.parametrize("scale", [1, 2, 3])
@pytest.mark.parametrize("margin", [(0, 0), (1, 0), (2, 5)])
@pytest.mark.parametrize("size", [6, 12])
def test_a_tile_computes_its_points_and_its_margins(scale: int, margin: tuple[int, int], size: int) -> None:
    before, behind = (each * scale for each in margin)
    member = Member("S", ("i",), ((before, behind),), scales=(scale,))
    assert member.points(0, size) >= len(computed(member, size))
    assert member.points(0, size) <= len(computed(member, size)) + 1


def test_a_stage_that_lies_outside_of_a_tile_has_no_points_there() -> None:
    assert Member("S", ("i",), ((-4, -4),)).points(0, 3) == 0


def test_tiles_begin_where_every_stage_has_a_point() -> None:
    members = [Member("A", ("i",), ((0, 0),), scales=(scale,)) for scale in (4, 6)]
    assert grid([*members, Member("B", ("i",), ((0, 0),))], 0) == 12


def test_values_that_overlap_are_copied_unless_they_stay_in_the_tile() -> None:
    overlapping = ((1, 1), (0, 0))
    assert Member("S", ("i", "j"), overlapping).copied
    assert not Member("S", ("i", "j"), overlapping, scratch=True).copied
    assert not Member("S", ("i", "j"), ((0, 0), (0, 0))).copied


def test_an_alignment_is_printed_as_numbers_of_dimensions() -> None:
    own = {"S1": ("i", "j", "k"), "S2": ("a", "b")}
    along = {"S1": ("i", "j", "k"), "S2": ("b", None, None)}
    alignment = Alignment(("i", "j", "k"), own, along, {name: (Fraction(1),) * 3 for name in own})
    assert str(alignment) == "S1 [i,j,k] -> [1,2,3]\nS2 [a,b] -> [-,1,-]"


def test_what_is_summed_up_over_tiles_is_private() -> None:
    members = (
        Member("wide", ("i", None), ((2, 1), (0, 0))),
        Member("coarse", ("i", "j"), ((0, 0), (0, 0)), private=True, scales=(2, 1)),
    )
    group = Fusable(("i", "j"), members, ((2, 1), (0, 0)), ("wide",))
    assert group.privates == ("coarse",)
