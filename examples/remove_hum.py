"""Remove the hum of the mains from a WAV file, and draw the spectra before and after.

    python examples/remove_hum.py [in.wav]

Without a file one is made: two tones under a hum of 50 Hz.  The results, hum_removed.wav and spectra.svg, are
written to the working directory for a file that is given, and to a temporary one otherwise.
"""

import sys
import tempfile
import wave
from pathlib import Path

import numpy as np

import polymat as pm
from polymat import Double, Int, Parameter, Signal

TAPS = 2001


def make_recording(path: Path, rate: int = 8000) -> None:
    """Two seconds of tones under a hum."""
    time = np.arange(2 * rate) / rate
    tones = 0.3 * np.sin(2 * np.pi * 440 * time) + 0.2 * np.sin(2 * np.pi * 1320 * time)
    write_wav(path, rate, tones + 0.4 * np.sin(2 * np.pi * 50 * time))


def read_wav(path: Path) -> tuple[int, np.ndarray]:
    """Sample rate and the first channel of 16 bits, in -1 .. 1."""
    with wave.open(str(path), "rb") as file:
        if file.getsampwidth() != 2:
            raise SystemExit(f"{path} has {8 * file.getsampwidth()} bits a sample, this example reads 16")
        frames = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return file.getframerate(), frames[:: file.getnchannels()] / 32768.0


def write_wav(path: Path, rate: int, samples: np.ndarray) -> None:
    """One channel of 16 bits."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def write_spectra(path: Path, rate: int, curves: dict[str, np.ndarray]) -> None:
    """Magnitudes in decibels up to 2 kHz, as an SVG picture."""
    width, height, floor = 800, 300, -100.0
    lines = ['<rect width="800" height="300" fill="white"/><g font-family="sans-serif" font-size="12">']
    for hertz in range(250, 2000, 250):
        at = width * hertz // 2000
        lines.append(f'<path stroke="#ddd" d="M{at} 0V{height}"/><text x="{at + 3}" y="12">{hertz} Hz</text>')
    for level in range(20, 100, 20):
        at = height * level // 100
        lines.append(f'<path stroke="#ddd" d="M0 {at}H{width}"/><text x="3" y="{at - 3}">-{level} dB</text>')
    for n, (name, spectrum) in enumerate(curves.items()):
        colour = ("#c33", "#36c")[n]
        lines.append(f'<text x="740" y="{32 + 16 * n}" fill="{colour}">{name}</text>')
        kept = min(len(spectrum), int(len(spectrum) * 2000 / (rate / 2)))
        level = 20 * np.log10(np.abs(spectrum[:kept]) / len(spectrum) + 1e-12)
        across = np.linspace(0, width, kept)
        down = np.clip(level / floor, 0, 1) * height
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
        lines.append(
            f'<polyline fill="none" stroke="{colour}" points="{points}"><title>{name}</title></polyline>'
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    path.write_text("\n".join([head, *lines, "</g></svg>\n"]), encoding="utf-8")


# The pipeline: the sample rate is known at the call, so the taps are computed inside it.
N, rate_in = Parameter(Int, "N"), Parameter(Double, "rate")
x = Signal(Double, "x", N)
taps = pm.firwin(TAPS, (40.0, 60.0), window=("kaiser", pm.kaiser_beta(60)), fs=rate_in)
clean = x.fir(taps, mode="same")
remove_hum = pm.compile([clean, pm.rfft(x), pm.rfft(clean)], name="remove_hum", inputs=[x])

with tempfile.TemporaryDirectory() as scratch:
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    folder = Path.cwd() if given else Path(scratch)
    source = given or folder / "recording.wav"
    if given is None:
        make_recording(source)
    rate, samples = read_wav(source)
    filtered, before, after = remove_hum(samples, rate=float(rate))
    write_wav(folder / "hum_removed.wav", rate, filtered)
    write_spectra(folder / "spectra.svg", rate, {"before": before, "after": after})
    hum = round(50 * len(samples) / rate)
    print(f"{len(samples)} samples at {rate} Hz")
    print(f"at 50 Hz: {20 * np.log10(abs(after[hum]) / abs(before[hum])):.0f} dB")
    if given is None:
        tone = round(440 * len(samples) / rate)
        assert abs(after[hum]) < 0.05 * abs(before[hum])
        assert 0.9 < abs(after[tone]) / abs(before[tone]) < 1.01
        assert (folder / "spectra.svg").stat().st_size > 1000
