"""How a compiled pipeline looks in Python: its signature and what help() says of it."""

from __future__ import annotations

import inspect
import keyword
from typing import TYPE_CHECKING, Any

from polymat.codegen.c.abi import Array, Signature
from polymat.runtime.diagnose import usage
from polymat.runtime.sizes import shape_text
from polymat.runtime.spec import slot_names

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # which type checkers know, installed or not

    Result = TypeVar("Result", default=Any)
    Told = TypeVar("Told", default=Any)
else:
    from typing import TypeVar

    Result, Told = TypeVar("Result"), TypeVar("Told")


def python_signature(signature: Signature) -> inspect.Signature:
    kinds = inspect.Parameter
    named = [name for name in slot_names(signature) if name not in signature.order]
    if any(keyword.iskeyword(name) for name in (*signature.order, *named)):
        # A parameter `lambda` can be passed, as c(**{"lambda": 2}), but not be written down.
        return inspect.Signature([kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)])
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in signature.order]
    parameters += [kinds(name, kinds.KEYWORD_ONLY) for name in named]
    return inspect.Signature([*parameters, kinds("out", kinds.KEYWORD_ONLY, default=None)])


def documentation(signature: Signature) -> str:
    lines = [usage(signature), ""]
    lines += [f"    {array.name}: {_array_text(signature, array)}" for array in signature.inputs]
    lines += [f"    {scalar.name}: {scalar.dtype}" for scalar in signature.scalars]
    lines += [f"    {size.name}: integer, at least {size.least}" for size in signature.sizes if size.by_name]
    lines += [f"    returns {array.name}: {_array_text(signature, array)}" for array in signature.outputs]
    return "\n".join(lines)


def arrow(signature: Signature) -> str:
    kinds = {array.name: _array_text(signature, array) for array in signature.inputs}
    kinds |= {scalar.name: scalar.dtype for scalar in signature.scalars}
    kinds |= {size.name: "int" for size in signature.sizes if size.by_name}
    named = [name for name in slot_names(signature) if name not in signature.order]
    inputs = [f"{name}: {kinds[name]}" for name in signature.order]
    inputs += [*(["*"] if named else []), *(f"{name}: {kinds[name]}" for name in named)]
    outputs = ", ".join(f"{array.name}: {_array_text(signature, array)}" for array in signature.outputs)
    return f"{signature.name}({', '.join(inputs)}) -> {outputs}"


def _array_text(signature: Signature, array: Array) -> str:
    return f"{array.dtype} {shape_text(signature, array.extents)}"
