"""One line of a terminal that says how far a search is, or the logger polymat.tune."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median

from polymat.errors import counted
from polymat.runtime.tunedstore import Trial

_log = logging.getLogger("polymat.tune")


@contextmanager
def progress_line(name: str, budget: float) -> Iterator[Callable[[Sequence[Trial], float], None]]:
    """A function that tells of each trial; the line goes again at the end."""
    shown = sys.stderr is not None and sys.stderr.isatty() and not _log.isEnabledFor(logging.INFO)

    def tell(trials: Sequence[Trial], spent: float) -> None:
        text = progress_text(name, trials, spent, budget)
        _log.info("%s", text)
        if shown:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_text(name: str, trials: Sequence[Trial], spent: float, budget: float) -> str:
    """How many trials and seconds, and the best so far beside the default."""
    text = f"tuning {name}: {counted(len(trials), 'trial')}, {spent:.0f} s of {budget:.0f} s"
    timed = [trial for trial in trials if trial.rounds]
    if not timed:
        return text
    best = min(timed, key=lambda trial: trial.ratio)
    ratio, default = min(1.0, best.ratio), median(trial.default for trial in timed)
    return f"{text}, best {ratio:.3f} of the default's {default * 1e3:.4g} ms"
