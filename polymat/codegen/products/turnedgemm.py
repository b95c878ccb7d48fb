"""Products whose vectors hold segments of columns: turned register blocks.

Where neighbours in B are segments of columns, and columns and steps of the depth are far apart, a copy of B
in the order of its columns has to be transposed.  `turned_text` gives the C functions for products of so few
rows that this costs a good part of the multiplications: the lanes of their vectors are neighbouring segments,
and what is transposed, in registers, are eight columns of three rows of the result.  B is copied as it lies,
eight columns of a few vectors at a time, by the register blocks themselves: each step of their depth copies a
vector of what is next and requests one of what comes after that.  Large results go past the caches in whole
lines; where these begin within the eight columns, a part of them waits for those to the right.
`polymat.product.ways` says when products are turned.
"""

from __future__ import annotations

from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.headers import headers_text
from polymat.codegen.products.turnedblock import turned_blocks


def turned_head(shape: Shape) -> str:
    """The macro that says whether there are such products: the C compiler can write past the caches."""
    s = shape.suffix
    return f"""\
{SHUFFLES}
#if _PM_WHOLE_{s} && defined(_PM_SHUFFLES)
#define _PM_TURNS_{s} 1
{headers_text(shape, "turneddeclared")}#endif
"""


def turned_text(shape: Shape) -> str:
    """The C functions."""
    types, product = headers_text(shape, "turnedcopies"), headers_text(shape, "turnedlines", "turned")
    return f"{types}#ifdef _PM_TURNS_{shape.suffix}\n{turned_blocks(shape)}#endif\n{product}"
