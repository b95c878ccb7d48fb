"""A picture as a sensor would see it, developed by a camera pipeline, and smoothed within its edges.

    python -m examples.develop_picture [PICTURE.png]

Both pipelines are in benchmarks/images/: `camera.py` makes colours of a mosaic of them, in integers, and
`bilateral_grid.py` smooths a grey picture where it is smooth already. The result is developed.png.
"""

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

from benchmarks.colours import matrix_of
from benchmarks.images import bilateral_grid, camera

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RED, GREEN, BLUE = 0.299, 0.587, 0.114
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def read_png(path: Path) -> np.ndarray:
    """The rows, columns and three colours of a PNG of 8 bits that is neither interlaced nor has a palette."""
    data = path.read_bytes()
    if not data.startswith(SIGNATURE):
        raise SystemExit(f"{path} is no PNG")
    chunks: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        name = data[at + 4 : at + 8]
        chunks[name] = chunks.get(name, b"") + data[at + 8 : at + 8 + length]
        at += length + 12
    columns, rows, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if bits != 8 or kind not in CHANNELS or interlaced:
        raise SystemExit(f"{path} is no plain PNG of 8 bits")
    channels = CHANNELS[kind]
    coded = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, 1 + channels * columns)
    found = np.zeros((rows + 1, columns + 1, channels), np.int32)  # with zeros above and to the left
    for row in range(rows):
        way = coded[row, 0]
        line = coded[row, 1:].reshape(columns, channels).astype(np.int32)
        if way in (0, 2):
            found[row + 1, 1:] = (line + (found[row, 1:] if way == 2 else 0)) % 256
            continue
        for column in range(columns):
            left, above, corner = found[row + 1, column], found[row, column + 1], found[row, column]
            found[row + 1, column + 1] = (line[column] + predicted(way, left, above, corner)) % 256
    colours = found[1:, 1:].astype(np.uint8)
    return colours[..., :3] if channels > 2 else np.repeat(colours[..., :1], 3, axis=2)


def predicted(way: int, left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """What a filter of PNG expects of a pixel, from those beside it."""
    if way == 1:
        return left
    if way == 3:
        half: np.ndarray = (left + above) // 2
        return half
    likely = left + above - corner
    away = [np.abs(likely - value) for value in (left, above, corner)]
    near = np.where(away[1] <= away[2], above, corner)
    return np.where((away[0] <= away[1]) & (away[0] <= away[2]), left, near)


def write_png(path: Path, picture: np.ndarray) -> None:
    """Write rows, columns and three colours."""
    rows, columns, _ = picture.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    lines = np.pad(picture.reshape(rows, 3 * columns), ((0, 0), (1, 0)))  # each begins with its filter: none
    body = zlib.compress(lines.tobytes())
    path.write_bytes(SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def landscape(rows: int, columns: int) -> np.ndarray:
    """A sun over hills, with noise, for those who have no picture at hand."""
    x, y = np.mgrid[:rows, :columns]
    sky = np.stack([90 + 80 * x / rows, 120 + 70 * x / rows, 200 - 40 * x / rows], axis=2)
    sun = np.hypot(x - rows / 4, y - 0.7 * columns) < rows / 9
    hills = x > rows * (0.62 + 0.12 * np.sin(5 * y / columns) + 0.03 * np.sin(31 * y / columns))
    sky[sun], sky[hills] = (250, 220, 120), (40, 90, 50)
    noise = np.random.default_rng(0).normal(0, 6, sky.shape)
    return np.clip(sky + noise, 0, 255).astype(np.uint8)


def seen_by_sensor(picture: np.ndarray) -> np.ndarray:
    """Ten bits for each pixel, of one colour alone; more around it, which the camera pipeline needs."""
    light = 1023 * (picture / 255) ** camera.PROGRAM.scalars["gamma"]
    matrix = matrix_of(camera.PROGRAM.scalars["kelvin"]) / 256  # from what the sensor sees to light
    seen = np.linalg.solve(matrix[:, :3], (light - matrix[:, 3])[..., None])[..., 0].clip(0, 1023)
    around = [
        (camera.ROWS // 4, 3 * camera.ROWS // 4),
        (camera.COLUMNS // 4, 3 * camera.COLUMNS // 4),
        (0, 0),
    ]
    wide = np.pad(seen.astype(np.int16), around, mode="symmetric")
    raw = wide[..., 1].copy()
    raw[::2, 1::2], raw[1::2, ::2] = wide[::2, 1::2, 0], wide[1::2, ::2, 2]
    return raw


picture = read_png(Path(sys.argv[1])) if len(sys.argv) > 1 else landscape(240, 360)
picture = picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]
develop = camera.PROGRAM.compile("SMALL")
blue, green, red = develop(seen_by_sensor(picture), **camera.PROGRAM.scalars)
developed = np.stack([red, green, blue], axis=2)

brightness = (developed @ np.array([RED, GREEN, BLUE], np.float32) / np.float32(255)).clip(0, 1)
smooth = bilateral_grid.PROGRAM.compile("SMALL")(brightness)
shares = smooth / np.maximum(brightness, np.float32(1 / 255))
write_png(Path("developed.png"), np.clip(developed * shares[..., None], 0, 255).astype(np.uint8))

assert np.array_equal(read_png(Path("developed.png")).shape, picture.shape)
for name, values in (("developed", brightness), ("smoothed", smooth)):
    steps = np.abs(np.diff(values, axis=1))
    print(f"{name:>9}: from pixel to pixel {np.median(steps):.4f}, at edges {np.percentile(steps, 99.8):.2f}")
