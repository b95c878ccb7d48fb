"""POLYMAT_LOG: which of polymat's loggers speak up on stderr."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from polymat.runtime.settings import settings

if TYPE_CHECKING:
    from polymat.plan.schedule import Schedule

_ROOT = "polymat"
_EVERYTHING = "all"
_SLOW_SECONDS = 2.0
TOPICS = (
    *("built", "graph", "fusion", "tilesize", "idiom"),
    *("codegen", "source", "runtime", "cache", "libraries", "calibrate", "compile", "audit", "tune"),
)


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]  # generic in the stubs only
    """Writes to today's sys.stderr, unless the program has set up logging itself and hears of it there."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            self.stream = sys.stderr
            super().emit(record)


def configure_logging() -> None:
    """Switch on the loggers that POLYMAT_LOG names: "fusion,cache" means polymat.fusion and polymat.cache.

    "all" means every one.  A second call adds nothing twice.
    """
    for name in settings().log:
        if name not in (*TOPICS, _EVERYTHING):
            _tell_topics(name)
            continue
        logger = logging.getLogger(_ROOT if name == _EVERYTHING else f"{_ROOT}.{name}")
        logger.setLevel(logging.DEBUG)
        root = logging.getLogger(_ROOT)
        if not any(isinstance(handler, _Stderr) for handler in root.handlers):
            handler = _Stderr()
            handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
            root.addHandler(handler)


def anybody_listens() -> bool:
    """Whether what is said of a compilation while it goes on is heard."""
    return any(logging.getLogger(f"{_ROOT}.{topic}").isEnabledFor(logging.INFO) for topic in TOPICS)


def tell_user(topic: str, text: str) -> None:
    """Say something once: by the logger polymat.TOPIC, or, where nobody listens to it, to a terminal."""
    logger = logging.getLogger(f"{_ROOT}.{topic}")
    if logger.isEnabledFor(logging.INFO):
        logger.info(text)
    elif sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"polymat: {text}\n")
        sys.stderr.flush()


class SlowCompile:
    """Says that a compilation takes longer than two seconds: `with SlowCompile(name) as slow`.

    In one line of a terminal, which goes again at the end; else to the logger polymat.compile.
    """

    def __init__(self, name: str) -> None:
        self.last = ""  # the level that was reached
        self._name, self._shown = name, False
        self._timer = threading.Timer(_SLOW_SECONDS, self._say)
        self._timer.daemon = True

    def __enter__(self) -> SlowCompile:
        with suppress(RuntimeError):  # no thread is to be had: nothing is said
            self._timer.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._timer.cancel()
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _say(self) -> None:
        at = (
            "waiting for the C compiler"
            if self.last == "source"
            else f"behind the level {self.last or 'start'!r}"
        )
        text = f"{self._name}: compiling takes longer than {_SLOW_SECONDS:.0f} s, {at}"
        logging.getLogger(f"{_ROOT}.compile").info(text)
        if sys.stderr is not None and sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"polymat: {text}")
            sys.stderr.flush()


# A word to the user, told once.
@lru_cache(maxsize=64)
def _tell_topics(name: str) -> None:
    """Once for each name that is no topic."""
    topics = ", ".join((_EVERYTHING, *TOPICS))
    logging.getLogger(_ROOT).warning("POLYMAT_LOG: no topic %r; the topics are %s", name, topics)


def log_schedule(name: str, schedule: Schedule) -> None:
    """Tell which groups were looked at and chosen, how they run, and why sums are no library calls.

    By the loggers polymat.fusion, polymat.tilesize and polymat.idiom.
    """
    topics = ("fusion", "tilesize", "idiom")
    fusion, tilesize, idiom = (logging.getLogger(f"{_ROOT}.{topic}") for topic in topics)
    for item in schedule.considered:
        fusion.debug("%s: considered %s", name, item)
    fusion.info("%s: groups %s", name, schedule.grouping.summary)
    for note in schedule.notes:
        idiom.info("%s: %s", name, note)
    if not tilesize.isEnabledFor(logging.INFO):
        return  # what speaks for a plan is only worked out where somebody reads it
    for plan, decision in zip(schedule.plans, schedule.decisions, strict=False):
        tilesize.info("%s: %s; %s", name, plan, decision.terms)
        tilesize.debug("%s: %s moves %s", name, plan, decision.movement)
        for stage, scores in decision.scores.items():
            tilesize.debug("%s: innermost loop of %s: %s", name, stage, scores.explain())
