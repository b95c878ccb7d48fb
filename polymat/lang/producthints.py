"""What to write where the extents of a product do not fit together."""

from __future__ import annotations

from polymat.lang.function import Source


def misfit_hint(left: Source, right: Source, otherwise: str) -> str:
    """A hint at what to write where the inner extents of a product differ."""
    transposed = "" if otherwise and left.shape == right.shape else _product_hint(left, right)
    dims = min(left.rank, right.rank)
    alike = left.shape[left.rank - dims :] == right.shape[right.rank - dims :]
    if transposed and otherwise and alike:
        return f"{transposed} Or, {otherwise}"
    return transposed or otherwise


def _product_hint(left: Source, right: Source) -> str:
    """The transposition that would make a product fit, if there is one."""
    for flip_left, flip_right in ((False, True), (True, False), (True, True)):
        one = left.shape[::-1] if flip_left else left.shape
        other = right.shape[::-1] if flip_right else right.shape
        trivial = (flip_left and left.rank < 2) or (flip_right and right.rank < 2)
        if one[-1] == other[0] and not trivial:
            texts = (
                _flipped(left) if flip_left else left.label,
                _flipped(right) if flip_right else right.label,
            )
            return f"did you mean {texts[0]} @ {texts[1]}?"
    return ""


def _flipped(source: Source) -> str:
    """The transpose as a user would write it: that of `B.T` is `B`."""
    label = source.label
    return label.removesuffix(".T") if label.endswith(".T") else f"{label}.T"
