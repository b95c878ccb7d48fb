"""Products whose vectors hold segments of columns: turned register blocks.

Where neighbours in B are segments of columns, and columns and steps of the depth are far apart, a copy of B
in the order of its columns has to be transposed.  `turned_text` gives the C functions for products of so few
rows that this costs a good part of the multiplications: the lanes of their vectors are neighbouring segments,
and what is transposed, in registers, are eight columns of three rows of the result.  B is copied as it lies,
eight columns of a few vectors at a time, by the register blocks themselves: each step of their depth copies a
vector of what is next and requests one of what comes after that.  Large results go past the caches in whole
lines; where these begin within the eight columns, a part of them waits for those to the right.
`polymat.product.turned` says when products are turned.
"""

from __future__ import annotations

from string import Template

from polymat.codegen.c.apart import prototypes
from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.headers import headers_text, with_macros, written
from polymat.codegen.products.turnedblock import turned_blocks
from polymat.product.inequality import in_c
from polymat.product.turned import PAYS

_PAYS = """\
/* Whether turned blocks pay; part: elements of a set of columns of one vector; packed: of A. */
static inline int _pm_turning_pays_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t segments,
        ptrdiff_t part, ptrdiff_t packed, ptrdiff_t small)
{
    const ptrdiff_t deepest = $DEEP;
    return $PAYS;
}

"""


def turned_head(shape: Shape) -> str:
    """The macro that says whether there are such products: the C compiler can write past the caches."""
    s = shape.suffix
    return f"""\
{SHUFFLES}
#if _PM_WHOLE_{s} && defined(_PM_SHUFFLES)
#define _PM_TURNS_{s} 1
{with_macros(shape, prototypes(written("turned")))}#endif
"""


def turned_text(shape: Shape) -> str:
    """The C functions."""
    pays = Template(_PAYS).substitute(S=shape.suffix, DEEP=shape.turns, PAYS=in_c(PAYS))
    types, product = headers_text(shape, "turnedcopies"), headers_text(shape, "turnedlines", "turned")
    return f"{types}#ifdef _PM_TURNS_{shape.suffix}\n{turned_blocks(shape)}{pays}#endif\n{product}"
