"""The peers by name, with the environment that gives each its threads."""

from __future__ import annotations

import os
from collections.abc import Sequence

from benchmarks.harness import ROOT, Peer

PEERS_HOME = ROOT / ".venv-peers"
"""What `make peers` makes: Numba, JAX, PyTorch and MKL, which polymat itself does not need."""

_HERE = "benchmarks.peers."
# Name: where it is prepared, and whether it lives in the peers' environment.
_PEERS = {
    "NumPy": ("array_libraries:prepare_numpy", False),
    "Numba": ("numba_kernels:prepare", True),
    "JAX": ("array_libraries:prepare_jax", True),
    "torch": ("array_libraries:prepare_torch", True),
    "torch.compile": ("array_libraries:prepare_torch_compile", True),
    "C": ("plain_c:prepare_plain", False),
    "C fast-math": ("plain_c:prepare_fast", False),
    "OpenBLAS": ("blas:prepare_openblas", False),
    "MKL": ("blas:prepare_mkl", True),
}


def find_peer(name: str, threads: int) -> Peer:
    """The peer of that name on `threads` threads; `KeyError` lists the names there are."""
    if name not in _PEERS:
        raise KeyError(f"no peer {name!r}; there are {', '.join(_PEERS)}")
    prepare, elsewhere = _PEERS[name]
    return (
        elsewhere_peer(name, _HERE + prepare, threads)
        if elsewhere
        else Peer(name, _HERE + prepare, counts(threads))
    )


def elsewhere_peer(name: str, prepare: str, threads: int) -> Peer:
    """A peer that runs in the peers' environment."""
    libraries = f"{PEERS_HOME / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    # Compiling inside the worker, so that no process of a compiler's pool wakes up during a round.
    environment = {**counts(threads), "LD_LIBRARY_PATH": libraries, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    return Peer(name, prepare, environment, str(PEERS_HOME / "bin" / "python"))


def find_peers(names: Sequence[str], threads: int) -> tuple[Peer, ...]:
    """The peers of those names."""
    return tuple(find_peer(name, threads) for name in names)


def counts(threads: int) -> dict[str, str]:
    """What tells a library how many threads to use."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def polymat_peer(threads: int, name: str = "polymat", prepare: str = "pipelines:prepare") -> Peer:
    """Polymat on `threads` threads; NumPy's own thread pool, which it does not use, stays off."""
    return Peer(name, _HERE + prepare, {**counts(threads), "OPENBLAS_NUM_THREADS": "1"})
