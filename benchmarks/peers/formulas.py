"""The problems as a user of an array library writes them, for NumPy, JAX and PyTorch alike.

A formula takes the library's module, the arrays by name and the task's values, and returns a tuple.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

ALPHA, BETA = 1.5, 1.2
Formula = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], tuple[Any, ...]]


def gemm(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """C = alpha A B + beta C."""
    return (ALPHA * (a["A"] @ a["B"]) + BETA * a["C"],)


def two_mm(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """D = alpha A B C + beta D."""
    return (ALPHA * (a["A"] @ a["B"]) @ a["C"] + BETA * a["D"],)


def three_mm(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """G = (A B) (C D)."""
    return ((a["A"] @ a["B"]) @ (a["C"] @ a["D"]),)


def symm(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """C = alpha S B + beta C, S given by the lower triangle of A."""
    S = xp.tril(a["A"]) + xp.tril(a["A"], -1).T
    return (ALPHA * (S @ a["B"]) + BETA * a["C"],)


def syrk(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The lower triangle of C = alpha A A' + beta C."""
    return (xp.tril(ALPHA * (a["A"] @ a["A"].T) + BETA * a["C"]) + xp.triu(a["C"], 1),)


def syr2k(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The lower triangle of C = alpha (A B' + B A') + beta C."""
    half = a["A"] @ a["B"].T
    return (xp.tril(ALPHA * (half + half.T) + BETA * a["C"]) + xp.triu(a["C"], 1),)


def trmm(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """B = alpha L' B, L unit lower triangular."""
    return (ALPHA * (a["B"] + xp.tril(a["A"], -1).T @ a["B"]),)


def doitgen(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A_rqp = sum_s A_rqs C4_sp."""
    return (a["A"] @ a["C4"],)


def gemver(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A rank-2 update, and two products with the result."""
    B = a["A"] + xp.outer(a["u1"], a["v1"]) + xp.outer(a["u2"], a["v2"])
    x = a["x"] + BETA * (B.T @ a["y"]) + a["z"]
    return (a["w"] + ALPHA * (B @ x),)


def gesummv(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """y = alpha A x + beta B x."""
    return (ALPHA * (a["A"] @ a["x"]) + BETA * (a["B"] @ a["x"]),)


def atax(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """y = A' (A x)."""
    return (a["A"].T @ (a["A"] @ a["x"]),)


def bicg(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """s = A' r, q = A p."""
    return a["A"].T @ a["r"], a["A"] @ a["p"]


def mvt(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """x1 + A y1, x2 + A' y2."""
    return a["x1"] + a["A"] @ a["y1"], a["x2"] + a["A"].T @ a["y2"]


def product(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """C = A B, or alpha A B + beta C where there is a C."""
    found = a["A"] @ a["B"]
    return (ALPHA * found + BETA * a["C"] if "C" in a else found,)


def layer(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A product, a bias for every row, and the positive part."""
    return ((a["A"] @ a["B"] + a["bias"]).clip(0),)


def normalised(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A scale and a shift for every channel, and the positive part."""
    return ((a["x"] * a["scale"] + a["shift"]).clip(0),)


def einsum(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A contraction of A and B."""
    more = {"optimize": True} if xp.__name__ == "numpy" else {}
    return (xp.einsum(values["subscripts"], a["A"], a["B"], **more),)


def network(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A contraction of any number of arrays, in the order that the library finds."""
    more = {} if xp.__name__ == "torch" else {"optimize": True}
    return (xp.einsum(values["subscripts"], *a.values(), **more),)


def decimate(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A valid filter of which every fourth sample is kept, by SciPy's polyphase filter."""
    taps, samples, factor = len(a["h"]), len(a["x"]), 4
    first = (taps - 1) // factor
    kept = max(0, -((taps - 1 - samples) // factor))
    upfirdn = importlib.import_module("scipy.signal").upfirdn
    return (upfirdn(a["h"], a["x"], down=factor)[first : first + kept],)


def softmax(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of every row, by the library's own function where it has one."""
    return (_softmax(xp, a["x"]),)


def _softmax(xp: Any, x: Any) -> Any:
    if xp.__name__ == "torch":
        return xp.softmax(x, -1)
    if xp.__name__.startswith("jax"):
        return importlib.import_module("jax.nn").softmax(x, -1)
    e = xp.exp(x - x.max(-1, keepdims=True))
    e /= e.sum(-1, keepdims=True)
    return e


def layer_norm(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """(x - mean) / sqrt(variance + 1e-5) * g + b."""
    x, g, b = a["x"], a["g"], a["b"]
    if xp.__name__ == "torch":
        layer = importlib.import_module("torch.nn.functional").layer_norm
        return (layer(x, (x.shape[-1],), g, b, 1e-5),)
    off = x - x.mean(-1, keepdims=True)
    return (off / xp.sqrt((off * off).mean(-1, keepdims=True) + 1e-5) * g + b,)


def attention(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Softmax(q k' / sqrt(d)) v, fused by PyTorch."""
    q, k, v = a["q"], a["k"], a["v"]
    if xp.__name__ == "torch":
        fused = importlib.import_module("torch.nn.functional").scaled_dot_product_attention
        return (fused(q[None, None], k[None, None], v[None, None])[0, 0],)
    return (_softmax(xp, q @ k.T * q.shape[-1] ** -0.5) @ v,)


def kalman(xp: Any, a: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """One step of every track; tracks are the last dimension."""
    x, P, z, F, Q, H, R = (a[name] for name in ("x", "P", "z", "F", "Q", "H", "R"))
    ahead = F @ x
    prior = xp.einsum("ik,klb,jl->ijb", F, P, F) + Q[:, :, None]
    cross = xp.einsum("ikb,jk->ijb", prior, H)
    spread = xp.einsum("ik,kjb->ijb", H, cross) + R[:, :, None]
    inverse = xp.moveaxis(xp.linalg.inv(xp.moveaxis(spread, 2, 0)), 0, 2)
    gain = xp.einsum("ikb,kjb->ijb", cross, inverse)
    known = xp.einsum("ikb,kj->ijb", gain, H)
    state = ahead + xp.einsum("ikb,kb->ib", gain, z - H @ ahead)
    return state, prior - xp.einsum("ikb,kjb->ijb", known, prior)


FORMULAS: Mapping[str, Formula] = {
    "gemm": gemm,
    "2mm": two_mm,
    "3mm": three_mm,
    "symm": symm,
    "syrk": syrk,
    "syr2k": syr2k,
    "trmm": trmm,
    "doitgen": doitgen,
    "gemver": gemver,
    "gesummv": gesummv,
    "atax": atax,
    "bicg": bicg,
    "mvt": mvt,
    "product": product,
    "layer": layer,
    "bnorm-relu": normalised,
    "einsum": einsum,
    "network": network,
    "decimate": decimate,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "attention": attention,
    "kalman": kalman,
}
