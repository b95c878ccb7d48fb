"""The C program that times transforms of an FFTW, which it plans and executes as generated code does."""

from __future__ import annotations

from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.routines.fftlarge import fft_macros, large_text
from polymat.codegen.routines.fftw import FftNeed
from polymat.codegen.routines.librarylinks import routines_of
from polymat.idiom.parts import Least
from polymat.measuring.programs import calibration_head, calibration_text, calibration_texts
from polymat.measuring.timing import WARM_SECONDS

_PIECES = (Piece.COMPLEX, Piece.MATH, Piece.STRING, Piece.TEAM, Piece.WORKSPACE)
NEEDS: frozenset[Need] = frozenset((*_PIECES, *FftNeed))
ALWAYS = Least(1, 1, 1, 1, 1, 1, 1, 1)  # everything is computed in parts
_HEADERS = ("clock", "rounds", "transforms")


def fft_bench_source() -> tuple[str, tuple[str, ...]]:
    """The C text that times transforms, and the routines that it calls, in the order of its table."""
    shared = calibration_texts(("clock", "rounds"), {"WARM": WARM_SECONDS})
    timers = [large_text(prefix, ALWAYS) + _timer(prefix) for prefix in ("fftw", "fftwf")]
    return "\n".join([calibration_head(NEEDS, _HEADERS), *shared, *timers]), routines_of(NEEDS)


def _timer(prefix: str) -> str:
    names = {"TIMER": f"pm_{prefix}", "PARTS_TIMER": f"pm_{prefix}_parts"}
    return calibration_text("transforms", macros={**fft_macros(prefix), **names})
