"""What a loaded library says of itself: version, configuration, processor."""

from __future__ import annotations

import ctypes
import re

_PREFIXES = ("", "scipy_")


def _core(handle: ctypes.CDLL) -> str:
    """The processor whose kernels an OpenBLAS uses; empty for another library."""
    address = address_of((handle,), "openblas_get_corename")
    if address is None:
        return ""
    return (ctypes.CFUNCTYPE(ctypes.c_char_p)(address)() or b"").decode(errors="replace")


def address_of(handles: tuple[ctypes.CDLL, ...], routine: str) -> int | None:
    for handle in handles:
        for prefix in _PREFIXES:
            try:
                function = getattr(handle, prefix + routine)
            except AttributeError:
                continue
            return ctypes.cast(function, ctypes.c_void_p).value
    return None


def version_of(handles: tuple[ctypes.CDLL, ...]) -> str:
    """The version that a library says it is."""
    text = configuration(handles)
    if not text:
        address = address_of(handles, "fftw_version")
        text = ctypes.string_at(address).decode(errors="replace") if address is not None else ""
    number = next((word for word in re.split(r"[ -]", text) if word[:1].isdigit()), "")
    return " ".join(filter(None, (number, *(_core(handle) for handle in handles))))


def configuration(handles: tuple[ctypes.CDLL, ...]) -> str:
    """The text in which a library says what it is and how it was built; empty where it does not."""
    address = address_of(handles, "mkl_get_version_string")
    if address is not None:
        buffer = ctypes.create_string_buffer(256)
        ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int)(address)(buffer, len(buffer))
        return buffer.value.decode(errors="replace")
    for name in ("openblas_get_config", "bli_info_get_version_str"):
        address = address_of(handles, name)
        if address is not None:
            return (ctypes.CFUNCTYPE(ctypes.c_char_p)(address)() or b"").decode(errors="replace")
    return ""
