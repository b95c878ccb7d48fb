"""The peers by name, with the environment that gives each its threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.harness import ROOT, Peer

PEERS_HOME = ROOT / ".venv-peers"
"""What `make peers` makes: Numba, Halide, OpenCV, JAX, PyTorch, MKL; polymat itself needs none of them."""

ONE_THREAD = ", one thread"
BOUNDS = frozenset(("np.copyto",))
"""What computes nothing, and is timed to show what could be quicker: no rival."""

_HERE = "benchmarks.peers."
# Name: where it is prepared, and whether it lives in the peers' environment.
_PEERS = {
    "NumPy": ("array_libraries:prepare_numpy", False),
    "NumPy, out=": ("elementwise:prepare_numpy_out", False),
    "torch, out=": ("elementwise:prepare_torch_out", True),
    "Numba": ("numba_kernels:prepare", True),
    "JAX": ("array_libraries:prepare_jax", True),
    "torch": ("array_libraries:prepare_torch", True),
    "torch.compile": ("array_libraries:prepare_torch_compile", True),
    "C": ("plain_c:prepare_plain", False),
    "C fast-math": ("plain_c:prepare_fast", False),
    "OpenBLAS": ("blas:prepare_openblas", False),
    "MKL": ("blas:prepare_mkl", True),
    "FFTW": ("fftw:prepare_estimated", False),
    "FFTW measured": ("fftw:prepare_measured", False),
    "torch conv1d": ("torch_filters:prepare_conv1d", True),
    "torch conv2d": ("torch_filters:prepare_conv2d", True),
    "torch.compile conv2d": ("torch_filters:prepare_conv2d_compiled", True),
    "torch layers": ("torch_layers:prepare", True),
    "lfilter": ("scipy_signals:prepare_lfilter", False),
    "oaconvolve": ("scipy_signals:prepare_oaconvolve", False),
    "ndimage": ("scipy_images:prepare", False),
    "SciPy, images": ("scipy_images:prepare_pipeline", False),
    "upfirdn": ("scipy_signals:prepare_upfirdn", False),
    "SciPy, recursive": ("scipy_signals:prepare_recursive", False),
    "Numba, recursive": ("numba_filters:prepare", True),
    "Numba, images": ("numba_images:prepare", True),
    "Numba, NPBench": ("numba_npbench:prepare", True),
    "C, NPBench": ("c_npbench:prepare", False),
    "Numba, data": ("numba_data:prepare", True),
    "Numba, factors": ("numba_factors:prepare", True),
    "LAPACK of OpenBLAS": ("lapack:prepare_openblas", False),
    "LAPACK of MKL": ("lapack:prepare_mkl", True),
    "np.copyto": ("copies:prepare", False),
    "SciPy, sparse": ("sparse_libraries:prepare_scipy", False),
    "MKL, sparse": ("sparse_libraries:prepare_mkl", True),
    "Halide": ("halide_images:prepare", True),
    "OpenCV": ("opencv_images:prepare", True),
    "SciPy, lfilter": ("scipy_signals:prepare_direct_pipeline", False),
    "SciPy, best": ("scipy_signals:prepare_best_pipeline", False),
    "SciPy, streaming": ("scipy_signals:prepare_streaming_pipeline", False),
    # Other ways of polymat itself.
    "unfused, out=": ("pipelines:prepare_unfused", False),
    "naive, out=": ("pipelines:prepare_naive", False),
    "polymage, out=": ("pipelines:prepare_polymage", False),
    "paper, out=": ("pipelines:prepare_paper", False),
    "library, out=": ("pipelines:prepare_library", False),
    "tuned, out=": ("pipelines:prepare_tuned", False),
    "stage by stage, out=": ("pipelines:prepare_separate", False),
    "working sets, out=": ("pipelines:prepare_working_sets", False),
    "model, out=": ("pipelines:prepare_model", False),
    "polymat, one by one": ("pipelines:prepare_one_by_one", False),
    "polymat, blas always": ("pipelines:prepare_blas_always", False),
    "polymat, blas never": ("pipelines:prepare_blas_never", False),
    "polymat, direct": ("pipelines:prepare_direct", False),
    "polymat, FFT": ("pipelines:prepare_fft", False),
}


def find_peer(name: str, threads: int) -> Peer:
    """The peer of that name on `threads` threads; `KeyError` lists the names there are.

    A name that ends in ONE_THREAD is a library left with one thread: some sizes are not worth more.
    """
    if name.endswith(ONE_THREAD):
        return replace(find_peer(name.removesuffix(ONE_THREAD), 1), name=name)
    if name not in _PEERS:
        raise KeyError(f"no peer {name!r}; there are {', '.join(_PEERS)}")
    prepare, elsewhere = _PEERS[name]
    if prepare.startswith("pipelines:"):
        peer = polymat_peer(threads, name, prepare)
        # Others may run with POLYMAT_TUNED=off: what `tune` has found is this peer's alone then.
        kept = {"POLYMAT_TUNED": "auto"} if prepare.endswith(":prepare_tuned") else {}
        return replace(peer, environment={**peer.environment, **kept})
    return (
        elsewhere_peer(name, _HERE + prepare, threads)
        if elsewhere
        else Peer(name, _HERE + prepare, counts(threads))
    )


def is_own(name: str) -> bool:
    """Whether a peer is another way of polymat itself."""
    return _PEERS.get(name, ("", False))[0].startswith("pipelines:")


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
