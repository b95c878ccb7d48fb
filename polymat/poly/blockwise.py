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
    block = affine_text((Affine.name(dim) - first).floordiv(size))
    params, dims = writes.domain.params, writes.domain.dims
    blocks = isl.Map(space_text(params, f"{tuple_text(dims)} -> [{block}]"))
    pairs = writes.same_element_pairs(writes).apply_domain(blocks).apply_range(blocks)
    return bool(pairs.is_subset(pairs.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)))
