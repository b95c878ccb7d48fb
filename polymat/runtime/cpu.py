"""What `-march=native` means here, as a text: for cache keys and for libraries that travel."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping

from polymat.machine.cpuinfo import first_processor

_MODEL_KEYS = (
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "cpu",
    "isa",
)
# Of the x86 flags only those that name instructions a compiler may emit: others come and go with the kernel.
_X86_ISA = re.compile(
    r"(sse|ssse|avx|amx|bmi|fma|aes|vaes|sha|xop|tbm|pclmul|vpclmul|movdir|prefetchw|3dnow)\w*"
    r"|pni|abm|adx|cx16|f16c|gfni|lahf_lm|lzcnt|movbe|mmx|popcnt|rdrand|rdseed|clflushopt|clwb"
)


def native_cpu() -> str:
    """Architecture, model and instruction-set features between bars, always the same on one machine."""
    return _describe(platform.machine(), first_processor())


def missing_features(saved: str) -> tuple[str, ...]:
    """Instruction-set features that a saved `native_cpu` text has and this machine lacks.

    Another architecture is reported as the one missing feature.
    """
    return _missing(saved, native_cpu())


def _missing(saved: str, here: str) -> tuple[str, ...]:
    saved_architecture, saved_features = _split(saved)
    architecture, features = _split(here)
    if saved_architecture != architecture:
        return (saved_architecture,)
    return tuple(feature for feature in saved_features if feature not in features)


def _split(text: str) -> tuple[str, list[str]]:
    architecture, _, rest = text.partition("|")
    return architecture, rest.partition("|")[2].split()


def _describe(architecture: str, fields: Mapping[str, str]) -> str:
    model = " ".join(fields[key] for key in _MODEL_KEYS if fields.get(key)).replace("|", "/")
    if "flags" in fields:
        features = [flag for flag in fields["flags"].split() if _X86_ISA.fullmatch(flag)]
    else:
        features = fields.get("Features", "").split()
    return f"{architecture}|{model}|{' '.join(sorted(set(features)))}"
