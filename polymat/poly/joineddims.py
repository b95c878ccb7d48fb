"""Two dimensions of a domain counted as one: the points of several short rows as those of one long row."""

from __future__ import annotations

import islpy as isl

from polymat.poly.domain import Domain
from polymat.poly.isltext import encode, space_text, tuple_text
from polymat.poly.readonce import set_of


def joined(domain: Domain, outer: str, inner: str, extent: int, guess: Domain) -> Domain | None:
    """The points with extent * outer + inner in the place of `outer`, and without `inner`.

    guess: what the result may be, with the names that it has.  None where the result is not written with the
    same inequalities: unless `inner` runs over 0 .. extent - 1 everywhere, say.

    before:  { [i, j, c] : 2 <= j < W and 0 <= c <= 2 }
    after:   { [i, j_c] : 6 <= j_c < 3*W }
    """
    forms = [
        f"{extent} * {encode(dim)} + {encode(inner)}" if dim == outer else encode(dim)
        for dim in domain.dims
        if dim != inner
    ]
    step = isl.Map(space_text(domain.params, f"{tuple_text(domain.dims)} -> [{', '.join(forms)}]"))
    image = domain.set.apply(step)
    if guess.set.is_equal(image):
        return guess
    dims, name = guess.dims, guess.dims[[dim for dim in domain.dims if dim != inner].index(outer)]
    rows = domain.set.project_out(isl.dim_type.set, domain.dims.index(inner), 1).coalesce()
    found = set_of(space_text(domain.params, f"{tuple_text(dims)} : false"))
    for piece in rows.get_basic_sets():
        text = _scaled(piece.remove_redundancies(), Domain(domain.params, dims, found), name, extent)
        if text is None:
            return None
        found = found.union(set_of(space_text(domain.params, f"{tuple_text(dims)}{text}")))
    return Domain(domain.params, dims, found) if found.is_equal(image) else None


def _scaled(piece: isl.BasicSet, space: Domain, name: str, extent: int) -> str | None:
    """The constraints of a piece on the longer rows; None where one is not of the kind that stays linear.

    With j_c = 3*j + c and c of 0 .. 2, j >= g is j_c >= 3*g, and j <= g is j_c <= 3*g + 2.
    """
    if piece.dim(isl.dim_type.div):
        return None
    texts = []
    for constraint in piece.get_constraints():
        forms = [_form(constraint, space)]
        if constraint.is_equality():
            forms.append({key: -value for key, value in forms[0].items()})
        for form in forms:
            step = form[name]
            if abs(step) > 1:
                return None
            wide = form if step == 0 else {key: extent * value for key, value in form.items()}
            wide[name] = step
            wide[""] += extent - 1 if step < 0 else 0
            texts.append(" + ".join(f"{v}*{encode(k)}" if k else str(v) for k, v in wide.items()) + " >= 0")
    return f" : {' and '.join(texts)}" if texts else ""


def _form(constraint: isl.Constraint, space: Domain) -> dict[str, int]:
    """The coefficients of a constraint by name, and its constant by no name."""
    kinds = ((isl.dim_type.param, space.params), (isl.dim_type.set, space.dims))
    form = {
        name: constraint.get_coefficient_val(kind, position).to_python()
        for kind, names in kinds
        for position, name in enumerate(names)
    }
    form[""] = constraint.get_constant_val().to_python()
    return form
