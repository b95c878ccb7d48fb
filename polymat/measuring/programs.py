"""The C of the measuring programs: headers in `kernels/calibration`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polymat.codegen.c.kernels import kernel, kernel_headers, kernel_text
from polymat.codegen.c.needs import Need
from polymat.codegen.prelude import prelude

FOLDER = "calibration"


def calibration_text(name: str, suffix: str = "", macros: Mapping[str, object] | None = None) -> str:
    """A header, with those of the macros that it takes."""
    takes = dict(kernel(f"{FOLDER}/{name}").takes)
    wanted = {macro: value for macro, value in (macros or {}).items() if macro in takes}
    return kernel_text(f"{FOLDER}/{name}", suffix, wanted)


def calibration_texts(names: Iterable[str], macros: Mapping[str, object]) -> list[str]:
    """Several headers, each with those of the macros that it takes."""
    return [calibration_text(name, macros=macros) for name in names]


def calibration_head(needs: frozenset[Need], names: Iterable[str]) -> str:
    """The head of a measuring program: the prelude, and the system's headers for these texts."""
    headers = kernel_headers(*(f"{FOLDER}/{name}" for name in names))
    return prelude(needs) + "".join(f"#include <{header}>\n" for header in sorted(headers))
