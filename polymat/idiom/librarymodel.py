"""Which routines libraries have, and how long they take here, from a coarse grid of measurements."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from polymat.dataclass import dataclass
from polymat.idiom.routines import measurements
from polymat.machine.grid import Grid
from polymat.machine.keptfile import read_text, write_text
from polymat.machine.producttimes import ProductTimes, as_lists, from_lists

Kind: TypeAlias = Literal["blas", "fft"]
_log = logging.getLogger("polymat.calibrate")
_FORMAT = 1
_MOST_BYTES = 1 << 20
_MOST_POINTS = 1 << 14
# Extents that describe a call of each routine, in order.  gemv_t takes the matrix transposed, gemm_t the
# right one alone; fft is one transform, of a complex dtype or from a real one, by lengths of small prime
# factors and by primes; fft_square one of two axes as long as each other; and those in parts, which small
# ones are not.
_TRANSFORMS = ("fft", "fft_prime", "fft_parts", "fft_square", "fft_square_parts")
AXES: Mapping[str, tuple[str, ...]] = {
    **{timed.name: tuple(timed.roles) for timed, _ in measurements()},
    **dict.fromkeys(_TRANSFORMS, ("n",)),
}
_SMOOTH = (2, 3, 5, 7, 11, 13)
_LIKE = {"gemm_t": "gemm"}  # what stands for a routine that an older measurement does not have
_REAL = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """Seconds of single-threaded calls, operands in the nearest cache that holds them.

    fingerprint: of the processor; provider: of the library, file and version; date: of the measurement.
    grids: by routine and NumPy dtype.  products: what whole products of real matrices took, by turns with
    own ones, on one thread and on several that shared them.
    """

    fingerprint: str
    provider: str
    date: str
    grids: Mapping[tuple[str, str], Grid]
    products: tuple[ProductTimes, ...] = ()

    def seconds(self, routine: str, dtype: str, extents: Sequence[float]) -> float | None:
        """Predicted seconds of one call; `AXES` says which extents; None for a routine that is not measured.

        A complex routine that was not measured takes as much longer than the real one as a product does.
        """
        grid = self.grid(routine, dtype)
        if grid is not None:
            return grid.at(extents)
        real = self.grid(routine, _REAL.get(dtype, ""))
        products = self.grids.get(("gemm", dtype)), self.grids.get(("gemm", _REAL.get(dtype, "")))
        if real is None or products[0] is None or products[1] is None:
            return None
        # A product with these extents, the last one repeated: what matters is how large it is.
        cube = (*extents, extents[-1], extents[-1])[:3]
        return real.at(extents) * products[0].at(cube) / products[1].at(cube)

    def grid(self, routine: str, dtype: str) -> Grid | None:
        """The measured times of a routine, or of one that is like it."""
        return self.grids.get((routine, dtype)) or self.grids.get((_LIKE.get(routine, routine), dtype))

    def transform_seconds(self, dtype: str, length: float) -> float | None:
        """Predicted seconds of one transform of complex numbers, or from real ones, by their dtype.

        Lengths with a prime factor above 13 count as primes.
        """
        return self.seconds("fft" if is_smooth(round(length)) else "fft_prime", dtype, (length,))


def is_smooth(length: int) -> bool:
    """Whether a length has prime factors up to 13 alone, as transforms have them easiest."""
    for factor in _SMOOTH:
        while length > 1 and length % factor == 0:
            length //= factor
    return length <= 1


def encode(model: LibraryModel) -> str:
    """The text of the file that keeps it; times have four digits."""
    grids = [
        {
            "routine": routine,
            "dtype": dtype,
            "levels": [list(levels) for levels in grid.levels],
            "seconds": [float(f"{value:.3e}") for value in grid.seconds],
        }
        for (routine, dtype), grid in sorted(model.grids.items())
    ]
    fields = {
        "format": _FORMAT,
        "fingerprint": model.fingerprint,
        "provider": model.provider,
        "date": model.date,
        "grids": grids,
        "products": as_lists(model.products),
    }
    return json.dumps(fields, allow_nan=False) + "\n"


def decode(text: str) -> LibraryModel:
    """The model that `encode` wrote; a `ValueError` says what is wrong with any other text."""
    try:
        fields = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
        raise ValueError(f"not speeds of a library of format {_FORMAT}")
    if set(fields) | {"products"} != {"format", *LibraryModel.__dataclass_fields__}:
        raise ValueError("fields missing or unknown")
    listed = fields["grids"]
    if not isinstance(listed, list):
        raise ValueError("the grids are no list")
    texts = [fields[name] for name in ("fingerprint", "provider", "date")]
    if not all(isinstance(value, str) for value in texts):
        raise ValueError("a text is none")
    products = from_lists(fields.get("products", []))
    return LibraryModel(texts[0], texts[1], texts[2], dict(map(_grid, listed)), products)


def _grid(value: Any) -> tuple[tuple[str, str], Grid]:
    if not isinstance(value, dict) or set(value) != {"routine", "dtype", "levels", "seconds"}:
        raise ValueError("a grid is none")
    routine, dtype = value["routine"], value["dtype"]
    if not isinstance(routine, str) or routine not in AXES or not isinstance(dtype, str):
        raise ValueError(f"no routine: {routine!r:.40}")
    levels, seconds = value["levels"], value["seconds"]
    if not isinstance(levels, list) or len(levels) != len(AXES[routine]):
        raise ValueError(f"{routine} has other extents")
    if not isinstance(seconds, list) or len(seconds) > _MOST_POINTS:
        raise ValueError("no list of times")
    axes = tuple(tuple(_level(level) for level in axis) for axis in levels)
    return (routine, dtype), Grid(axes, tuple(_seconds(value) for value in seconds))


def _level(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < 2**31:
        raise ValueError("a level is none")
    return value


def _seconds(value: Any) -> float:
    if not isinstance(value, float) or not 1e-12 < value < 1e4:
        raise ValueError("a time is out of all proportion")
    return value


def load(path: Path, fingerprint: str, provider: str) -> LibraryModel | None:
    """The model kept in a file; None when there is none, or a damaged one, or that of something else."""
    try:
        found = decode(read_text(path, most_bytes=_MOST_BYTES))
    except OSError as error:
        _log.debug("no speeds of the library: %s", error)
        return None
    except (ValueError, TypeError) as error:
        _log.warning("ignored %s: %s", path, error)
        return None
    if (found.fingerprint, found.provider) != (fingerprint, provider):
        _log.info("ignored %s: it was measured with another processor or library", path)
        return None
    return found


def store(path: Path, model: LibraryModel) -> None:
    """Write the file in one step, readable for its owner; an `OSError` when that cannot be."""
    write_text(path, encode(model))


class Libraries(Protocol):
    """Which routines there are, and how long they take."""

    def has(self, kind: Kind, routines: Collection[str]) -> bool:
        """Whether one library of a kind has all these routines, and those compute right results."""

    def model(self, kind: Kind) -> LibraryModel | None:
        """Measured times of the library of a kind; None without one, or where nothing was."""
