"""The OpenMP runtime that generated libraries share: loaded so that its idle threads do not spin for long.

An idle libgomp thread spins for several milliseconds by default, and so does an idle BLAS thread; in a
program that alternates them on few cores each waits for the other's core: measured on two cores, a loop of
40 us took 7600 us after each product of NumPy.  Sleeping at once cures that, but then every parallel region
costs wake-ups, 25 to 75 us.  So they spin for twice as long as waking takes: consecutive regions find the
team awake, and a thread that was woken late does not find the others asleep at the end of the region, which
would make the next region late as well, and all that follow.  What NumPy waits is no longer than that.
"""

from __future__ import annotations

import ctypes
import os
from functools import partial
from pathlib import Path
from threading import Lock

from polymat.machine.cpuinfo import first_processor
from polymat.runtime.settings import settings

_SPIN_SECONDS = 150e-6  # as in kernels/teamapart.h
# Seconds of one turn of libgomp's waiting loop; on x86 that is a pause, as long as the vendor chose.
_TURN_SECONDS = {"AuthenticAMD": 24e-9, "GenuineIntel": 45e-9}
_OTHER_TURN_SECONDS = 2e-9
_RUNTIMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
_NAMES = ("libgomp", "libomp", "libiomp")
_OMP_PAUSE_HARD = 2
_MAPS = Path("/proc/self/maps")

_once = Lock()
_decided: list[str] = []


def quiet_openmp(image: bytes = b"") -> None:
    """Load the OpenMP runtime of a library with short spinning, unless the user chose or it is too late.

    image: the library about to be loaded, which names its runtime; without it GCC's is meant.  Only the first
    call for a runtime does anything.  The environment is as before when it returns, and the runtime stays
    loaded: were it to go with the last library that needs it, its idle threads would crash the process.
    """
    name = next((runtime for runtime in _RUNTIMES if runtime.encode() + b"\0" in image), _RUNTIMES[0])
    with _once:
        if name in _decided:
            return
        _decided.append(name)
        quiet = not settings().openmp_waits and not _is_loaded(name)
        _load(name, _quiet_variables() if quiet else {})


def loaded_openmp() -> tuple[Path, ...]:
    """The OpenMP runtimes that are loaded in this process, also private copies such as those in wheels."""
    return tuple(path for path in _mapped_files("omp") if path.name.startswith(_NAMES))


def idle_threads_sleep() -> bool:
    """Whether a runtime was loaded so that its idle threads soon sleep: nobody else did, or chose."""
    return bool(_quietened)


def openmp_warning() -> str:
    """Why OpenMP threads may spin against others in this process, in one sentence; empty when they do not.

    Ask before the first call of `quiet_openmp`, or after it to learn about runtimes others loaded.
    """
    if settings().openmp_waits:
        return ""
    spinning = [path for path in loaded_openmp() if path.name not in _quietened]
    if not spinning:
        return ""
    return (
        f"{', '.join(map(str, spinning))} was loaded by someone else with threads that spin when idle: "
        "set OMP_WAIT_POLICY=passive, or import polymat first"
    )


_quietened: list[str] = []


def _quiet_variables() -> dict[str, str]:
    """For libgomp the number decides; LLVM's runtime knows the policy alone."""
    turn = _TURN_SECONDS.get(first_processor().get("vendor_id", ""), _OTHER_TURN_SECONDS)
    return {"GOMP_SPINCOUNT": str(round(_SPIN_SECONDS / turn)), "OMP_WAIT_POLICY": "passive"}


def _load(name: str, variables: dict[str, str]) -> None:
    """Load a runtime for good, with these variables in its environment."""
    # Only the C environment is changed, which is what the runtime reads; os.environ never shows it.
    for variable, value in variables.items():
        os.putenv(variable, value)
    try:
        runtime = ctypes.PyDLL(name)
        # libgomp reads its environment when it is loaded, LLVM's at the first call.
        runtime.omp_get_max_threads()
    except (OSError, AttributeError):
        return
    finally:
        for variable in variables:
            os.unsetenv(variable)
    _survive_fork(name, runtime)
    if variables:
        _quietened.extend(path.name for path in loaded_openmp() if path.name.startswith(name))


def _survive_fork(name: str, runtime: ctypes.PyDLL) -> None:
    """Let the team of a forking thread go: a child would wait for it for ever.

    Every library with teams sees to that itself; this is for a team whose last library has been closed.
    LLVM's runtime needs no help.
    """
    if not name.startswith("libgomp"):
        return
    try:
        pause = runtime.omp_pause_resource_all
    except AttributeError:
        return
    os.register_at_fork(before=partial(pause, _OMP_PAUSE_HARD))


def _is_loaded(name: str) -> bool:
    return any(path.name.startswith(name) for path in loaded_openmp())


def _mapped_files(part: str) -> tuple[Path, ...]:
    """The files that are mapped into memory with this in their paths."""
    try:
        text = _MAPS.read_text(errors="replace")
    except OSError:
        return ()
    fields = (line.split(None, 5) for line in text.splitlines() if part in line)
    names = (parts[5] for parts in fields if len(parts) == 6 and parts[5].startswith("/"))
    return tuple(Path(name) for name in dict.fromkeys(names))
