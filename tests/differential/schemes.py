"""Random schemes of contractions: any order, levels, copies, blocks and vectors that fit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

MOST_STATEMENTS = 24  # multiplications of a block: the C compiler reads each of them


def random_scheme(
    rng: Random,
    result: Sequence[str],
    summed: Sequence[str],
    operands: Mapping[str, Sequence[str]],
    lanes: int,
) -> str:
    """A scheme of a contraction with these dimensions and operands."""
    vector = rng.choice([*result, *summed, result[-1], result[-1], None])
    loops: list[str] = []
    blocks: list[str] = []
    room = MOST_STATEMENTS
    for dim in rng.sample([*result, *summed], len(result) + len(summed)):
        unit = lanes if dim == vector else 1
        size = rng.randint(1, max(1, min(4, room)))
        room //= size
        kind = rng.choice(["plain", "unrolled", "unrolled", "pair"])
        if kind == "pair" and size > 1:
            blocks.append(f"seq({dim}: {size * unit} | {rng.randint(1, size - 1) * unit})")
        elif kind != "plain":
            blocks.append(f"U({dim}, {size * unit})")
        tiles = sorted((rng.randint(4, 40) for _ in range(rng.randint(0, 2))), reverse=True)
        largest = max(4 * unit, *tiles, 0)
        if tiles and rng.random() < 0.5:  # whole blocks, which copies then hold together
            tiles = [max(1, tile // (size * unit)) * size * unit for tile in tiles]
        tiles = [tile for tile in dict.fromkeys(tiles) if size * unit <= tile <= largest]
        loops += [f"T({dim}, {tile})" for tile in tiles] + [f"R({dim})"]
    order = _merged(rng, loops)
    for array, dims in operands.items():
        if rng.random() < 0.6:
            permuted = rng.sample([*dims], len(dims))
            text = f"pack({array}: {', '.join(permuted)})" if rng.random() < 0.7 else f"pack({array})"
            order.insert(rng.randint(0, len(order)), text)
    shared = [f"Par({rng.choice([*result])})"] if rng.random() < 0.5 else []
    vectors = [f"V({vector}, {lanes})"] if vector else []
    return f"[{', '.join([*shared, *order, *blocks, *vectors])}]"


def _merged(rng: Random, loops: Sequence[str]) -> list[str]:
    """The loops in any order that leaves those of a dimension as they are."""
    names = [loop.split("(")[1].split(",")[0].rstrip(")") for loop in loops]
    order = rng.sample(names, len(names))
    queues = {name: [loop for loop, own in zip(loops, names, strict=True) if own == name] for name in names}
    return [queues[name].pop(0) for name in order]
