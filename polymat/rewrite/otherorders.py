"""Orders of a product that are the quickest for other shapes than those that were assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import log

from polymat.graph.orders import Work
from polymat.machine.model import Machine
from polymat.rewrite.chains import Chain
from polymat.rewrite.contractiontime import ContractionTime
from polymat.rewrite.productsteps import ProductOrder
from polymat.rewrite.subsets import Tree

SHORT, LONG = 32, 1024  # lengths of which every combination is tried
MOST_SIZES = 6  # that are tried: of more there are too many combinations
MOST_ORDERS = 3  # in one program, each of which the C compiler takes time for
GAIN = 2.0  # times quicker that an order has to be somewhere to be compiled as well


def other_orders(
    chain: Chain, chosen: Work, sizes: Mapping[str, int], machine: Machine, threads: int
) -> list[tuple[Tree, Work]]:
    """The orders that at some sizes are clearly quicker than the chosen one, the most useful first."""
    forms = [high - low + 1 for low, high in chain.network.bounds.values()]
    names = list(dict.fromkeys(name for form in forms for name in form.names()))
    if not 2 <= len(names) <= MOST_SIZES or len(chain.network.factors) < 3:
        return []
    corners = [
        {**sizes, **dict(zip(names, each, strict=True))} for each in product((SHORT, LONG), repeat=len(names))
    ]
    known: dict[Tree, Work] = {}
    for corner in corners:
        lengths = [max(float(form.evaluate(corner)), 1.0) for form in forms]
        order = ProductOrder(chain, ContractionTime.of(lengths, chain.root.dtype, machine, threads))
        tree = order.best()[1]
        if tree not in known:
            known[tree] = order.work(tree)
    return _most_useful(chosen, known, corners)


def _most_useful(
    chosen: Work, known: Mapping[Tree, Work], corners: Sequence[Mapping[str, int]]
) -> list[tuple[Tree, Work]]:
    """One order after the other by which most is gained over all corners, while any is worth it."""
    least = [chosen.at(corner) for corner in corners]
    every = {tree: [work.at(corner) for corner in corners] for tree, work in known.items()}
    found: list[tuple[Tree, Work]] = []
    while len(found) < MOST_ORDERS - 1:
        gains = {
            tree: sum(max(0.0, log(now / one)) for now, one in zip(least, works, strict=True))
            for tree, works in every.items()
            if any(now > GAIN * one for now, one in zip(least, works, strict=True))
        }
        if not gains:
            break
        best = max(gains, key=lambda tree: gains[tree])
        found.append((best, known[best]))
        least = [min(now, one) for now, one in zip(least, every[best], strict=True)]
    return found
