"""How products are cut, in C: the formulas that Python evaluates, printed as declarations.

Headers of products use them as macros, after variables that have the names of what is asked, and `rows`,
`vectors` and `lanes` of the register block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from polymat.codegen.c.ctree import Assign, Id
from polymat.codegen.c.formulas import FormulaWriter, declarations
from polymat.codegen.c.render import INDENT, statement_text
from polymat.product import cuts, gridcuts, packs, reading, turned, ways
from polymat.product.formula import Formula

# The fields of the structure of products/scheme.h.
SCHEME: Mapping[str, Formula] = {
    "strips": cuts.segment_strips,
    "all_strips": ways.strips,
    "vectors": ways.wide,
    "panels": ways.panels,
    "all_panels": packs.all_panels,
    "pieces": cuts.pieces,
    "group": cuts.group,
    "chunks": cuts.chunks,
    "together": cuts.together,
    "deepest": cuts.deepest,
    "broad": cuts.broad,
    "batch": cuts.batch,
    "most": cuts.most,
    "tall": cuts.tall,
    "whole_depth": cuts.whole_depth,
    "gathered": cuts.gathered,
    "ordered": cuts.ordered,
    "resident": cuts.resident,
    "cuts": packs.cut,
}
_COPIED = (packs.windows, packs.may_stay, packs.all_panels, ways.height, ways.large, ways.one_right)
_PASSED = (cuts.segment_strips, cuts.passed_depth, cuts.parts, cuts.is_one, cuts.passing)
_READ = (cuts.segment_strips, ways.strips, ways.wide, ways.read_depth, reading.groups, reading.at_once)


# Of formulas alone, which are constants of the package.
@cache
def cut_macros() -> dict[str, str]:
    """The macros: of blocks for the caches, of parts that rows pass, of what is read or turned."""
    whole = FormulaWriter("ptrdiff_t")
    set_fields = (Assign(Id(f"how.{field}"), "=", whole.expr(formula)) for field, formula in SCHEME.items())
    kept = [statement_text(each, INDENT) for each in set_fields]
    return {
        "CUT_BLOCKS": _macro([*_declared((*SCHEME.values(), *_COPIED)), *kept]),
        "CUT_JOINED": _macro(_declared((packs.joined,))),
        "CUT_PASSED": _macro(_declared(_PASSED)),
        "CUT_READ": _macro(_declared(_READ)),
        "CUT_TURNED": _macro(_declared((turned.set_vectors,))),
    }


def grid_macro() -> str:
    """The macro of `kernels/grid.h`: where parts of a triangle of a result begin."""
    return "\n".join(declarations((gridcuts.cut,), "double")).strip().removesuffix(";")


def _declared(formulas: Sequence[Formula]) -> list[str]:
    return declarations(formulas, "ptrdiff_t")


def _macro(lines: Sequence[str]) -> str:
    """Statements as the value of a macro, of which the last semicolon is where that is used."""
    return "\n".join(lines).lstrip().removesuffix(";").replace("\n", " \\\n")
