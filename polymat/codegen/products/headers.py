"""The hand-written C of products: headers of `codegen/kernels/products`, for a family of register blocks."""

from __future__ import annotations

from polymat.codegen.c.elements import INTEGERS
from polymat.codegen.c.kernels import OF_NAME, element_macros, has_word, kernel, named
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.cutstext import cut_macros
from polymat.codegen.products.waystext import choices
from polymat.product.blocking import DIRECT_DEPTH
from polymat.product.cuts import GATHERED
from polymat.product.ways import TURNED_ROWS

FOLDER = "products"


def headers_text(shape: Shape, *names: str) -> str:
    """The text of some headers, between the definitions of their macros and their ends."""
    return _with_macros(shape, _written(*names))


def _written(*names: str) -> str:
    """The text of some headers as it is written."""
    return "\n".join(kernel(f"{FOLDER}/{name}").text for name in names)


def _with_macros(shape: Shape, text: str) -> str:
    """A text between the definitions of those macros that it uses and their ends; names are written out."""
    macros = {macro: str(value) for macro, value in _macros(shape).items()}
    for macro in [macro for macro in macros if macro.endswith(OF_NAME)]:
        text = named(text, macro.removesuffix(OF_NAME), macros.pop(macro))
    used = {macro: value for macro, value in macros.items() if _is_used(macro.partition("(")[0], text)}
    defined = "".join(f"#define {macro} {value}".rstrip() + "\n" for macro, value in used.items())
    ended = "".join(f"#undef {macro.partition('(')[0]}\n" for macro in used)
    return f"{defined}{text}{ended}"


def _is_used(macro: str, text: str) -> bool:
    """Whether a text has a macro as a word, or UNROLL, which has PRAGMA."""
    return (macro == "PRAGMA" and "UNROLL(" in text) or has_word(text, macro)


def _macros(shape: Shape) -> dict[str, object]:
    """The macros of headers, described in products/family.h."""
    s = shape.suffix
    return {
        **element_macros(s),
        "CONST(name)": f"_PM_##name##_{s}",
        "MASK(count)": f"_PM_MASK_{s}(count)",
        "ENDS": int(bool(shape.ends)),
        "END(what)": ", what" if shape.ends else "",
        "PRAGMA(text)": "_Pragma(#text)",
        "UNROLL(count)": "PRAGMA(GCC unroll count)",
        "INTEGER": INTEGERS[s],
        "PLACES": ", ".join(map(str, range(shape.lanes))),
        "LANES": shape.lanes,
        "ROWS": shape.rows,
        "VECTORS": shape.vectors,
        "HALVES": int(shape.halves),
        "WALKS": int(shape.walks),
        "STRAIGHT": int(shape.straight),
        "GATHERED": GATHERED,
        "TURNED_ROWS": TURNED_ROWS,
        "DIRECT_DEPTH": DIRECT_DEPTH,
        "TURNED_DEPTH": shape.turns,
        **choices(),
        **cut_macros(),
    }
