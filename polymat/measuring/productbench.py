"""The C program that times whole products: by register blocks, as programs have them, and by a BLAS."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.apart import Files
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.prelude import parts, prelude
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.routines.cblas import cblas_routine
from polymat.codegen.routines.librarylinks import routines_of
from polymat.idiom.libraryroutines import blas_routine
from polymat.measuring.programs import calibration_text
from polymat.product.blocks import Blocks

_DTYPES = {"f32": "float32", "f64": "float64"}
SUFFIXES = tuple(_DTYPES)


def function_name(suffix: str) -> str:
    """The C function that times products of a type."""
    return f"pm_product_{suffix}"


def room_name(suffix: str) -> str:
    """The C function that says how many bytes these take."""
    return f"pm_room_{suffix}"


def product_bench(
    blocks: Sequence[Blocks], together: Sequence[Blocks], *, calls: bool
) -> tuple[str, Files, tuple[str, ...]]:
    """The C text, the same as several files, and the routines that it calls.

    blocks: of float32 and float64.  together: of several threads.  calls: whether there is a BLAS.
    """
    shapes = [
        Shape(suffix, each.vector_bytes, each.rows, each.vectors)
        for suffix, each in zip(SUFFIXES, blocks, strict=True)
    ]
    names = [blas_routine("gemm", _DTYPES[suffix]) for suffix in SUFFIXES] if calls else []
    needs: frozenset[Need] = frozenset((Piece.TEAM, Piece.GRID, *shapes, *map(cblas_routine, names)))
    timers = [_timer(*each, calls) for each in zip(SUFFIXES, blocks, together, strict=True)]
    body = "\n".join(["#include <time.h>", *timers])
    own = "\n".join([prelude(needs, whole=False), body])
    return "\n".join([prelude(needs), body]), Files((own,)) + parts(needs), routines_of(needs)


def _timer(suffix: str, blocks: Blocks, together: Blocks, calls: bool) -> str:
    """C that times products of a type, with the blocks of a machine for one thread and for several."""
    origin, half = f"_pm_origin_{suffix}", f"_pm_half_of_{suffix}(0, 0, 0, NULL, 0, 0)"
    caches = ", ".join(
        f"threads > 1 ? {getattr(together, name)} : {getattr(blocks, name)}"
        for name in ("kc", "mc", "nc", "small")
    )
    own = (
        f"_pm_gemm_{suffix}(m, n, k, 1, {origin}, 1, {origin}, 1, {origin}, 1, a, k, 1, b, step, "
        f"1, 0, NULL, 0, c, step, {caches}, 0, {half}, packed, NULL, NULL, NULL)"
    )
    routine = blas_routine("gemm", _DTYPES[suffix])
    most = max(blocks.kc * blocks.nc, together.kc * together.nc) / max(blocks.kc, together.kc)
    small = min(blocks.small, together.small)
    sizes = f"{float(max(blocks.kc, together.kc))}, {float(most)}, {float(small)}"
    macros = {
        "TIMER": function_name(suffix),
        "ROOM": room_name(suffix),
        "OWN(m, n, k, step, a, b, c, packed)": own,
        "CALL(m, n, k, step, a, b, c)": (
            f"_pm_{routine}(111, 111, m, n, k, 1, a, k, b, step, 0, c, step)" if calls else "(void)(c)"
        ),
        "PACKED(m, n, k)": (f"_pm_room_{suffix}((m) + {blocks.rows}, (n) + {blocks.columns}, (k), {sizes})"),
        "ROWS": blocks.rows,
        "LANES": blocks.lanes,
    }
    return calibration_text("product", suffix, macros)
