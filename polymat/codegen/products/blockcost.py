"""The price of register blocks in generated C: the formulas that Python evaluates, printed."""

from __future__ import annotations

from functools import cache

from polymat.codegen.c.formulas import formula_text
from polymat.codegen.c.kernels import kernel_text, statements
from polymat.codegen.products import waystext
from polymat.product.asked import KNOWN
from polymat.product.formula import Formula
from polymat.product.prices import price
from polymat.product.ways import Way


# Of the table of ways alone, which is a constant of the package.
@cache
def prices_text() -> str:
    """The C functions that price a product in the way that it takes, after those that choose the way."""
    known = [f"_PM_IS_{name.upper()}" for name in KNOWN]
    formulas = {way: price(way) for way in Way if way is not Way.UNROLLED}
    texts = {way: formula_text(formula, "double") for way, formula in formulas.items()}
    first = {text: way for way, text in reversed(texts.items())}
    functions = [_function(way, formulas[way]) for way in reversed(first.values())]
    cases = [
        f"case {waystext.way_name(way)}:\n        return {_name(first[text])}(asked)"
        for way, text in texts.items()
    ]
    around = kernel_text(
        "products/prices",
        KNOWN=", ".join(f"{name} = {4 << number}" for number, name in enumerate(known)),
        READ=statements(
            f"asked.{name} = (facts & {bit}) != 0" for name, bit in zip(KNOWN, known, strict=True)
        ),
        PRICES=statements(cases),
    )
    return "\n".join([waystext.ways_text(), *functions, around])


def _name(way: Way) -> str:
    return f"_pm_price_{way.name.lower()}"


def _function(way: Way, formula: Formula) -> str:
    """The price in a way, or in several that are as expensive."""
    return f"""\
/* The price of a product by {way.value}. */
static double {_name(way)}(const _pm_asked *asked)
{{
{waystext.statements([formula])}
{waystext.returned(formula)}
}}
"""
