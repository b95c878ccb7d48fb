"""Which names users may give: they appear in the generated C."""

from __future__ import annotations

import re

from polymat.errors import InvalidNameError, Location

MAX_LENGTH = 63
RESERVED_PREFIX = "_pm_"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile
    while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
    asm typeof bool true false nullptr constexpr alignas alignof static_assert thread_local typeof_unqual
"""
C_KEYWORDS = frozenset(_KEYWORDS.split())


def check_name(name: object, what: str, at: Location | None) -> str:
    """Return `name` if it can stand in C as it is."""
    if not isinstance(name, str):
        raise InvalidNameError(f"the name of a {what} must be a string, got {type(name).__name__}", at=at)
    shown = ascii(name)
    if not _IDENTIFIER.fullmatch(name):
        raise InvalidNameError(
            f"{shown} cannot name a {what}: not an ASCII identifier",
            at=at,
            hint="letters, digits and underscores, not starting with a digit",
        )
    if len(name) > MAX_LENGTH:
        raise InvalidNameError(
            f"{shown} cannot name a {what}: {len(name)} characters, at most {MAX_LENGTH}", at=at
        )
    if name in C_KEYWORDS:
        raise InvalidNameError(f"{shown} cannot name a {what}: a C keyword", at=at, hint=f"{name}_, say")
    if name.startswith("__"):
        raise InvalidNameError(
            f"{shown} cannot name a {what}: names starting with two underscores belong to the C compiler",
            at=at,
            hint=f"{name.lstrip('_')}, say",
        )
    if name.startswith(RESERVED_PREFIX):
        raise InvalidNameError(
            f"{shown} cannot name a {what}: names starting with {RESERVED_PREFIX} are polymat's own", at=at
        )
    return name
