"""What `-march=native` means here, as a text: for cache keys and for libraries that travel."""

from __future__ import annotations

import platform
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

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
# What compilers call it where Linux has other words.
_OTHER_WORDS = {
    **{"sse3": "pni", "bmi": "bmi1", "lzcnt": "abm", "pclmul": "pclmulqdq"},
    **{f"avx512{name}": f"avx512_{name}" for name in ("vbmi2", "vnni", "bitalg", "vpopcntdq")},
}
_NAMED = (
    *("sse", "sse2", "sse3", "ssse3", "sse4_1", "sse4_2", "popcnt"),
    *("avx", "avx2", "fma", "f16c", "bmi", "bmi2"),
    *("lzcnt", "movbe", "aes", "pclmul", "avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl", "gfni"),
    *("avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq", "vaes"),
)
_MACROS = {f"__{name.upper()}__": _OTHER_WORDS.get(name, name) for name in _NAMED}


def native_cpu() -> str:
    """Architecture, model and instruction-set features between bars, always the same on one machine."""
    return _describe(platform.machine(), first_processor())


def target_cpu(target: str, macros: Iterable[str]) -> str:
    """The CPU that a target of the compiler needs, by the macros it defines for what it may use there."""
    features = sorted(_MACROS[name] for name in macros if name in _MACROS)
    return f"{platform.machine()}|{target}|{' '.join(features)}"


def features_of(cpu: str) -> tuple[str, ...]:
    """The instruction-set features in such a text."""
    return tuple(_split(cpu)[1])


def header_for(header: str, features: Sequence[str]) -> str:
    """The text of a header with what the processor has to have."""
    if not features:
        return header
    first, _, rest = header.partition("\n")
    needed = textwrap.wrap(f"It needs a processor with {', '.join(features)}.", 96)
    return "\n".join([first, *(f"   {line}" for line in needed), rest])


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
