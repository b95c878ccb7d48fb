"""Arrays of other libraries: their memory as NumPy sees it, without a copy.

What is asked, in order: `__array_interface__`, the buffer protocol, `__array__`, DLPack.  An array that would
have to be made for the call (of tasks that are still to be run, of columns that lie apart) is refused: a copy
at each call is nothing that should happen unsaid, and what is written to it would be lost.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from polymat.codegen.c.abi import Signature

AnyArray = npt.NDArray[Any]

_HOST = (1, 3, 11)  # of DLPack's devices: memory of the processor, pinned for CUDA or ROCm or not
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 13: "CUDA's managed memory"}
_NUMBERS = (np.generic, bool, int, float, complex, str)
_without_buffer: WeakSet[type] = WeakSet()  # types that were asked for their buffer and have none
_INTERFACE = "__array_interface__"
_PROTOCOLS = ("__array__", "__dlpack__")


class NoArrayError(Exception):
    """Why a thing cannot be read as an array: words to follow what it is, and what to do.

    convertible: whether NumPy makes an array of it by a copy.
    """

    def __init__(self, why: str, hint: str = "", *, convertible: bool = True) -> None:
        super().__init__(why)
        self.why, self.hint, self.convertible = why, hint, convertible


def adopted_arguments(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call with NumPy's arrays for those of others; None where nothing changes.

    None as well where one cannot be read: whoever words the error finds out why.
    """
    arrays = {array.name for array in signature.inputs}
    out = kwargs.get("out")
    outputs = out if isinstance(out, tuple) else (out,)
    try:
        positional = [
            _adopted(value) if name in arrays else value
            for name, value in zip(signature.order, args, strict=False)
        ]
        named = {name: _adopted(value) if name in arrays else value for name, value in kwargs.items()}
        adopted = tuple(map(_adopted, outputs))
    except NoArrayError:
        return None
    before, after = [*args, *kwargs.values(), *outputs], [*positional, *named.values(), *adopted]
    if len(positional) < len(args) or all(a is b for a, b in zip(before, after, strict=True)):
        return None
    if out is not None:
        named["out"] = adopted if isinstance(out, tuple) else adopted[0]
    return positional, named


def _adopted(value: Any) -> Any:
    if isinstance(value, np.ndarray) or not offers_array(value):
        return value
    return array_of(value)


def with_given_outputs(result: Any, out: Any) -> Any:
    """The results of a call, in which outputs that were given are those things themselves."""
    if out is None:
        return result
    if not isinstance(out, tuple):
        return out
    if len(out) == 1:
        return result if out[0] is None else out[0]
    return tuple(made if given is None else given for made, given in zip(result, out, strict=True))


def offers_array(value: Any) -> bool:
    """Whether the thing is an array of somebody's: a number, a list and a text are none."""
    kind = type(value)
    if issubclass(kind, _NUMBERS) or isinstance(value, type):
        return False
    return any(hasattr(kind, name) for name in _PROTOCOLS) or _has_interface(value) or _has_buffer(value)


def _has_interface(value: Any) -> bool:
    """Whether it tells where its memory is: NumPy asks the thing itself, not its type alone."""
    return hasattr(type(value), _INTERFACE) or _INTERFACE in getattr(value, "__dict__", ())


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    except (BufferError, ValueError):  # it has memory, and does not show it
        return True
    return True


def array_of(value: Any) -> AnyArray:
    """The array whose memory is that of `value`; `NoArrayError` where there is none."""
    try:
        return _array_of(value)
    except NoArrayError:
        raise
    except Exception as error:
        if getattr(value, "requires_grad", False):
            raise NoArrayError(
                "that requires grad, of which a call would know nothing", "detach()"
            ) from error
        reason = " ".join(str(error).split()) or type(error).__name__
        raise NoArrayError(f"that gives no array: {reason:.200}", convertible=False) from error


def _array_of(value: Any) -> AnyArray:
    kind = type(value)
    if hasattr(kind, "__dlpack_device__"):
        _check_device(value.__dlpack_device__()[0])
    if _has_interface(value):
        return np.asarray(value)
    if kind not in _without_buffer:
        try:
            view = memoryview(value)
        except TypeError:
            _without_buffer.add(kind)
        except (BufferError, ValueError):
            pass
        else:
            array = np.asarray(view)
            if array.base is None:
                raise NoArrayError(f"whose elements of format {view.format!r} NumPy does not know")
            return array
    if hasattr(kind, "__array__"):
        return _by_array_method(value)
    try:
        return np.from_dlpack(value, copy=False)
    except TypeError:  # NumPy before 2.1, or an exporter of before that
        return np.from_dlpack(value)


def _check_device(device: int) -> None:
    if device not in _HOST:
        name = _DEVICES.get(device, f"DLPack's device {int(device)}")
        raise NoArrayError(f"on {name}, not in the memory of the processor", "cpu()")


def _by_array_method(value: Any) -> AnyArray:
    copy = {"copy": False} if _takes_copy(type(value).__array__) else {}
    try:
        box = [value.__array__(**copy)]
    except ValueError as error:
        raise NoArrayError("whose numbers do not lie in one array: they would have to be copied") from error
    if not isinstance(box[0], np.ndarray):
        raise NoArrayError(f"whose __array__ returns a {type(box[0]).__name__}")
    if box[0].base is not None and not isinstance(box[0].base, np.ndarray):
        return box[0]  # memory of something that is no array, and not ours
    if _holders(box) == _holders([np.empty(1)] if box[0].base is None else [np.empty(1)[:]]):
        raise NoArrayError("whose numbers lie in no array: they would have to be computed or copied")
    return box[0]


def _holders(box: list[AnyArray]) -> list[int]:
    """How many hold the array in the box, and the one that has its memory.

    As many as of a new array: then it was made for whoever asked.  Memory that is no array's is somebody's.
    """
    array: Any = box[0]
    held = [sys.getrefcount(array)]
    while isinstance(array.base, np.ndarray):
        array = array.base
        held.append(sys.getrefcount(array))
    return held if array.base is None else []


# Of methods of classes, asked at each call of a compiled pipeline.
@lru_cache(maxsize=64)
def _takes_copy(method: Callable[..., Any]) -> bool:
    """Whether an `__array__` can be told not to copy (NumPy 2)."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "copy" or p.kind is p.VAR_KEYWORD for p in parameters)


def kind_text(value: Any) -> str:
    """The kind of a thing in words, with the library it comes from: `a torch.Tensor`, `an array.array`."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    name = kind.__qualname__ if library in ("builtins", "__main__") else f"{library}.{kind.__qualname__}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def element_text(value: Any) -> str:
    """The element type as the thing itself tells it, `bfloat16`; empty where it does not."""
    dtype = getattr(value, "dtype", None)
    return "" if dtype is None else str(dtype).rpartition(".")[2]
