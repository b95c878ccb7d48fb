"""Every public function with each argument replaced by something odd: an answer, or an exception of ours."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Op

N = pm.Parameter(Int, "N")
i, j = (pm.Variable(Int, name) for name in "ij")
I = pm.Interval(Int, 0, N - 1)  # noqa: E741 (as in the thesis)
A, B, C = (pm.Matrix(Double, name, [N, N]) for name in "ABC")
x, y, h = pm.Vector(Double, "x", [N]), pm.Vector(Double, "y", [N]), pm.Vector(Double, "h", [5])
s, t, u = pm.Signal(Double, "s", N), pm.Signal(Double, "t", N), pm.Signal(Double, "u", 64)
z, channels = pm.Signal(pm.Complex, "z", 64), pm.Signal(Double, "c", [10, 64])
image, weights = pm.Image(Double, "im", [1, N, N, 3]), pm.Image(Double, "w", [3, 3, 3, 8])
inside = pm.Condition(i, "<", N)

CALLS: dict[str, tuple[Any, ...]] = {
    "Parameter": (Int, "N"),
    "Variable": (Int, "i"),
    "iterate": (lambda u: u + 1, x),
    "Interval": (Int, 0, N - 1),
    "Condition": (i, "<", N),
    "Case": (inside, 1),
    "Select": (inside, 1, 2),
    "Cast": (Double, i),
    "Function": (([i], [I]), Double, "f"),
    "Reduction": (([i], [I]), ([i, j], [I, I]), Double, "R"),
    "Reduce": (x(i), y(i), Op.Sum),
    **{name: (Double, "A", [N, N][:rank]) for rank, name in ((2, "Matrix"), (1, "Vector"), (2, "Image"))},
    "Signal": (Double, "s", N),
    **{name: (x(i),) for name in ("I0", "Abs", "Sqrt", "Conj", "Real", "Sign", "Round", "IsNaN")},
    **{name: (x(i), y(i)) for name in ("Max", "Pow", "Atan2", "Hypot")},
    "Clamp": (x(i), 0.0, 1.0),
    "where": (x > 0, x, 1.0),
    **{name: (x, y) for name in ("dot", "outer", "elementwise_mul")},
    **{name: (A,) for name in ("Any", "All", "Count")},
    "scalar_mul": (A, 2.0),
    "transpose": (A,),
    "gemm": (A, B, C, 1.0, 2.0),
    "symm": (A, B, C, N, N, 1.0, 2.0),
    "syrk": (A, C, 1.0, 2.0),
    "syr2k": (A, B, C, 1.0, 2.0),
    "trmm": (A, B, 1.0),
    **{name: (z,) for name in ("fft", "ifft")},
    "rfft": (u,),
    "irfft": (z, 126),
    "einsum": ("ij,jk->ik", A, B),
    "pad": (A, 1),
    "concatenate": ([s, t],),
    **{name: (s, h) for name in ("convolve", "correlate")},
    **{name: (A, B) for name in ("convolve2d", "correlate2d")},
    "conv2d": (image, weights),
    "lfilter": ([1.0, 2.0], [1.0, 0.5], s),
    "sosfilt": ([[1.0, 0, 0, 1, 0, 0]], s),
    "resample_poly": (s, 3, 2),
    "upfirdn": ([1.0, 2.0], s, 3, 2),
    "firwin": (11, 0.5),
    "get_window": ("hann", 11),
    "kaiser": (11, 5.0),
    "kaiser_beta": (60.0,),
    "frames": (u, 8, 4),
    "overlap_add": (channels, 4),
    "stft": (u, [1.0] * 16, 8),
    "istft": (pm.stft(u, [1.0] * 16, 8), [1.0] * 16, 8),
    "compile": (x + y,),
    "Options": (),
    "Microkernel": ("block", "void block() {}", Double, 6, 8),
    "load": ("/there/is/none.json",),
    "set_num_threads": (2,),
    "threads": (2,),
}
METHODS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "fir": (u.fir, (h, "valid")),
    "fir of zeros between": (u.up(2).fir, (h, "valid")),
    "down": (u.down, (2,)),
    "up": (u.up, (2,)),
    "interp_fft": (u.interp_fft, (2,)),
    "resample": (u.resample, (20,)),
    "slice": (lambda *parts: u[slice(*parts)], (0, 3, 1)),
    "index": (A, (i, j)),
    "defn": (lambda entry: setattr(pm.Function(([i], [I]), Double, "g"), "defn", entry), (x(i),)),
    "named": (lambda name: (x + y).named(name), ("q",)),
    **{
        f"{text} {op}": (lambda value, whole=whole, op=op: eval(f"a {op} b", {"a": whole, "b": value}), (B,))
        for text, whole in (("matrix", A), ("signal", s), ("read", x(i)))
        for op in ("+", "*", "/", "//", "**", "==", "&", "<<")
    },
    **{
        f"{op} {text}": (lambda value, whole=whole, op=op: eval(f"b {op} a", {"a": whole, "b": value}), (B,))
        for text, whole in (("matrix", A), ("signal", s), ("read", x(i)))
        for op in ("+", "*", "/", "==", "|", ">>")
    },
}
# Python's own words where an argument is missing, superfluous or of a type that has no such operator.
PYTHONS = ("argument", "unsupported operand", "not iterable", "object is not")


def odd_values() -> list[Any]:
    numbers = [0, -3, 1.5, float("nan"), float("inf"), 10**30, 2**31, 2**63, 1j, True, np.float32(3)]
    arrays = [np.zeros(3), np.zeros((2, 2)), np.zeros(0), np.array(3), np.array([None]), np.zeros(3, "i1")]
    others: list[Any] = [
        None,
        "x",
        "",
        b"x",
        [],
        (),
        {},
        [None],
        ["x"],
        {1: 2},
        object(),
        len,
        int,
        slice(None),
    ]
    return [*numbers, *arrays, *others, Double, i, N, i * 1.5, I, inside, A, x, s, s.max(), image, z, Op.Sum]


def replaced(function: Any, given: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments with one of them odd, named ones that were not given included."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[len(given) :]
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in parameters if p.kind in kinds and p.name not in ("internal", "whole", "op")]
    for value in odd_values():
        for position in range(len(given)):
            yield (*given[:position], value, *given[position + 1 :]), {}
        for name in names:
            yield given, {name: value}


def complaint(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """What is wrong with how a call ends; empty if nothing."""
    try:
        function(*arguments, **named)
    except pm.InternalError as error:
        return f"internal: {error}"
    except pm.PolymatError as error:
        located = error.location is not None or isinstance(error, pm.ArgumentError | pm.ToolchainError)
        return "" if located else f"without a place: {error}"
    except MemoryError:
        return ""
    except Exception as error:
        pythons = isinstance(error, TypeError) and any(words in str(error) for words in PYTHONS)
        return "" if pythons else f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.filterwarnings("ignore")  # SciPy's, about windows with parameters that are no numbers
@pytest.mark.parametrize("name", [*CALLS, *METHODS])
def test_odd_arguments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CC", os.devnull)  # what is right so far is not compiled
    function, given = METHODS[name] if name in METHODS else (getattr(pm, name), CALLS[name])
    threads = pm.get_num_threads()
    found = [(call, complaint(function, *call)) for call in replaced(function, given)]
    pm.set_num_threads(threads)
    wrong = [f"{name}{call}: {text}"[:300] for call, text in found if text]
    assert not wrong, "\n".join(wrong)


def test_every_public_function_is_called() -> None:
    # Made by the compiler, or a table of names; what measures for a minute is tested with planted clocks.
    classes = {"Report", "Compiled", "Op", "Profile", "Tuned", "tune"}
    like_others = {
        *("Acos", "Asin", "Atan", "Ceil", "Cos", "Cosh", "Exp", "Floor", "Imag", "Log", "Sin", "Sinh", "Tan"),
        *("Acosh", "Asinh", "Atanh", "Cbrt", "Erf", "Exp2", "Expm1", "Log1p", "Log2", "Log10", "Sigmoid"),
        *("Min", "Tanh", "get_num_threads"),
    }
    named = (*pm.__all__, "compile")  # which `import *` leaves out
    mistakes = ("Error", "Warning")
    public = {name for name in named if callable(getattr(pm, name)) and not name.endswith(mistakes)}
    assert public - classes - like_others == set(CALLS)
