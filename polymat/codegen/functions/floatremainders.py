"""Floor division of floating-point numbers and its remainder: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.called import called, versions
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind

# What answers beyond the common case, and where a processor has none: functions of `arithmetic`, by fmod.
REMAINDERS = {"floordivlanes": "floordiv", "modlanes": "mod"}
# Below which a whole quotient that is rounded twice is told from its neighbours.
_LIMITS = {SINGLE: "0x1p+22", WIDE: "0x1p+51"}


def remainder(kind: Kind, name: str) -> str:
    """The C text of one of `REMAINDERS` for a type."""
    near = kind.text("remainder", {"LIMIT": _LIMITS[kind]}, only=(f"{name}_near",))
    return f"{near}\n{called(kind, name, 2, beyond_by(kind, name))}\n{versions(kind, name, 2)}"


def left_over(kind: Kind) -> str:
    """The function that both call, of a type."""
    return kind.text("remainder", {"LIMIT": _LIMITS[kind]}, only=("left",))


def beyond_by(kind: Kind, name: str) -> str:
    """The function of any numbers."""
    return f"_pm_{REMAINDERS[name]}_{kind.suffix}"
