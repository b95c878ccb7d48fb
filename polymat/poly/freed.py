"""Values that are known at the call alone, as further dimensions of the domain that they occur in."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.lang.affine import Affine, computed_in
from polymat.poly.domain import Domain


def freed(domain: Domain, forms: Sequence[Affine]) -> tuple[Domain, tuple[Affine, ...]]:
    """A domain and forms with a dimension more for each computed value in these, of all that it may be.

    before:  [i] -> table(Clamp(a(i), 0, 9))
    after:   [i, v0], 0 <= v0 <= 9 -> table(v0)
    """
    atoms = computed_in(forms)
    if not atoms:
        return domain, tuple(forms)
    names = {atom: f"_pm_v{k}" for k, atom in enumerate(atoms)}
    wide = domain.extended(tuple(names.values()))
    for atom, name in names.items():
        wide = wide.within(name, atom.ranges)
    values = {atom: Affine.name(name) for atom, name in names.items()}
    return wide, tuple(form.with_computed(values) for form in forms)
