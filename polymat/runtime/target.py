"""What `FILE.py[:name]` on the command line stands for."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import PolymatError
from polymat.lang.function import Function, Input
from polymat.runtime.compiled import Compiled

_MODULE = "polymat_program"  # the name under which the user's file runs
_WANTED = "a function, a reduction, a matrix result, a list of them, a Compiled, or a function returning one"


class UsageError(PolymatError):
    """The command line asks for something that is not there."""


class ProgramError(Exception):
    """The user's own file raised an exception, which is the cause of this one."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The object of a command: keyword arguments of `compile()`, or a pipeline that is compiled already."""

    keywords: Mapping[str, Any]
    compiled: Compiled | None = None


def load_target(spec: str) -> Target:
    """Run the file and pick the named thing, or the only one there is, or the only Compiled among several."""
    path, name = _split(spec)
    module = _run(path)
    if name is None:
        name = _only_name(module, path)
    elif not name:
        raise UsageError(f"the name after the colon of {spec} is missing", hint=_candidates_hint(module))
    elif not hasattr(module, name):
        raise UsageError(f"{path} has no {name}", hint=_candidates_hint(module))
    return _target(getattr(module, name), f"{path}:{name}")


def load_arguments(path: str) -> dict[str, Any]:
    """The arrays of a file by name; those without dimensions are numbers."""
    try:
        with np.load(path) as found:
            return {name: array if array.ndim else array.item() for name, array in found.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint='np.savez("FILE.npz", A=a, B=b)') from error


def _split(spec: str) -> tuple[str, str | None]:
    path, colon, name = spec.rpartition(":")
    if os.path.isfile(spec):
        return spec, None
    if colon and os.path.isfile(path):
        return path, name
    raise UsageError(f"there is no file {path if colon and path else spec}", hint="FILE.py or FILE.py:name")


def _run(path: str) -> ModuleType:
    """Run a file as Python would, but for `__name__`, with its directory first on the import path."""
    module = ModuleType(_MODULE)
    module.__file__ = path
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.modules[_MODULE] = module
    try:
        with open(path, "rb") as stream:
            code = compile(stream.read(), path, "exec")
        exec(code, module.__dict__)
    except PolymatError:
        raise
    except (Exception, SystemExit) as error:
        raise ProgramError(path) from error
    return module


def _only_name(module: ModuleType, path: str) -> str:
    found = _candidates(module)
    compiled = [name for name in found if isinstance(getattr(module, name), Compiled)]
    for names in (found, compiled):
        if len(names) == 1:
            return names[0]
    if not found:
        raise UsageError(f"{path} describes nothing that can be compiled", hint=f"it needs {_WANTED}")
    listed = "\n".join(f"    {path}:{name}" for name in found)
    raise UsageError(f"{path} describes several things: which one?\n{listed}")


def _candidates(module: ModuleType) -> list[str]:
    """Names of what could be meant; what would have to be called comes only where there is nothing else."""
    names = list(_distinct(module, _is_target))
    return names or list(_distinct(module, _is_factory))


def _distinct(module: ModuleType, wanted: Any) -> Iterator[str]:
    """Public names in order of definition, one of several names of one thing."""
    seen: set[int] = set()
    for name, value in vars(module).items():
        if not name.startswith("_") and wanted(value) and id(value) not in seen:
            seen.add(id(value))
            yield name


def _is_target(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(isinstance(item, Function) for item in value)
    if isinstance(value, dict):
        return "outputs" in value
    return isinstance(value, Function | Compiled)


def _is_factory(value: Any) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == _MODULE and _takes_nothing(value)


def _takes_nothing(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in optional for p in parameters)


def _candidates_hint(module: ModuleType) -> str:
    found = _candidates(module)
    return f"it has {', '.join(found)}" if found else ""


def _target(value: Any, where: str) -> Target:
    if not isinstance(value, Function | Input | Compiled) and callable(value):
        value = _called(value, where)
    if isinstance(value, Compiled):
        return Target({}, value)
    if isinstance(value, Input):
        raise UsageError(f"{where} is an input: there is nothing to compute")
    if isinstance(value, Mapping):
        if "outputs" in value:
            return Target(dict(value))
        raise UsageError(f"{where} is a dict without outputs", hint='{"outputs": [...], "name": ...}')
    if isinstance(value, Function) or _is_target(value):
        return Target({"outputs": value})
    raise UsageError(f"{where} is {type(value).__name__} {value!r:.60}", hint=f"it must be {_WANTED}")


def _called(function: Any, where: str) -> Any:
    if not _takes_nothing(function):
        raise UsageError(f"{where} needs arguments", hint="a function without any, that returns the pipeline")
    try:
        return function()
    except PolymatError:
        raise
    except (Exception, SystemExit) as error:
        raise ProgramError(where) from error
