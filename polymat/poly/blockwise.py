"""Blocks of a loop that never add to the same element, where single iterations of it may."""

from __future__ import annotations

import islpy as isl

from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.isltext import affine_text, space_text, tuple_text


def blocks_are_parallel(writes: Access, dim: str, first: Affine, size: int) -> bool:
    """Whether points in different blocks of so many along `dim`, from the first one on, never do.

    before:  h[i // 8] += x[i], size 8
    after:   True: i from 8 k to 8 k + 7 go to h[k]
    """
    return blocks_never_meet(writes, writes, dim, first, size)


def blocks_never_meet(one: Access, other: Access, dim: str, first: Affine, size: int) -> bool:
    """Whether points of two accesses to one array, in different blocks, never go to the same element.

    before:  h[i // 8] += x[i] and h[i // 8 + 1] += y[i], size 8
    after:   False: the second goes to h[k + 1] where i is in block k
    """
    block = affine_text((Affine.name(dim) - first).floordiv(size))
    blocks = [
        isl.Map(space_text(each.domain.params, f"{tuple_text(each.domain.dims)} -> [{block}]"))
        for each in (one, other)
    ]
    pairs = one.same_element_pairs(other).apply_domain(blocks[0]).apply_range(blocks[1])
    return bool(pairs.is_subset(pairs.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)))
