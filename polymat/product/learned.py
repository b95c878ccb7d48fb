"""Schemes of contractions that a ranking of variants chooses (`Options.blocks` "learned").

PolyDL, section 4: variants of order, tiles and the loop that threads share, around the register block of the
model's scheme, are compared by a network that was trained on measured times, or, where that is for other
levels of memory, by the working sets of equation 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.dataclass import dataclass
from polymat.model.pairwise import Ranker, learned_order
from polymat.model.workingset import weighed_sums
from polymat.product.modelled import Modelled
from polymat.product.modelscheme import shareable
from polymat.product.scheme import Scheme
from polymat.product.schemevariants import scheme_figures, scheme_variants


@dataclass(frozen=True, slots=True)
class RankedSchemes:
    """Schemes of a contraction, the best first.

    by: what ranked them, in words.
    """

    schemes: tuple[Scheme, ...]
    by: str


def ranked_schemes(of: Modelled, start: Scheme, threads: int, ranker: Ranker | None) -> RankedSchemes:
    """The variants of a scheme in the order of the ranker, or of equation 1 where it is for other memories.

    start: whose register block and copies they have.
    """
    shared: Sequence[str] = shareable(of, threads) if threads > 1 else ()
    variants = scheme_variants(start, of.found, of.every, shared)
    figures = [scheme_figures(of.nest, of.found, each.own, of.machine, threads=threads) for each in variants]
    costs = [weighed_sums(each.sums, of.machine, threads) for each in figures]
    learned = ranker is not None and ranker.fits(figures)
    order = learned_order(figures, costs, ranker)
    by = f"the {'learned ranker' if learned else 'equation of working sets'}"
    return RankedSchemes(tuple(variants[number] for number in order), by)
