"""Compiled pipelines in pickles, and in the processes of others."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import pickle
import pickletools
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polymat import Compiled, Double, Int, Matrix, Options, Parameter
from polymat import compile as compile_pipeline
from polymat.errors import ArgumentError, BoundsError, Location, ToolchainError
from polymat.runtime import compiled as module
from polymat.runtime.cpu import native_cpu
from polymat.runtime.travel import Parcel, packed, unpacked
from tests.runtime import hand_written as kernels

A, B = np.arange(12.0).reshape(4, 3), np.arange(15.0).reshape(3, 5)
ELSEWHERE = native_cpu() + " avx9999"


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Nothing that was unpickled before is remembered."""
    module._unpickled.cache_clear()


@pytest.fixture
def mm(tmp_path: Path) -> Compiled:
    return kernels.mm(tmp_path, cpu=native_cpu(), report="all good", threads=1)


@pytest.fixture(scope="module")
def product() -> Compiled:
    """The same from a definition, which can be compiled again."""
    M, K, N = (Parameter(Int, name) for name in "MKN")
    a, b = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    return compile_pipeline(a @ b, name="mm", inputs=[a, b], options=Options(blas="never"))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_the_same_pipeline(mm: Compiled, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(mm, protocol))
    assert back is not mm
    np.testing.assert_array_equal(back(A, B), A @ B)
    assert (back.signature, back.source, back.header) == (mm.signature, mm.source, mm.header)
    assert (back.threads, back.cpu, back.explain()) == (1, mm.cpu, "all good")
    again = pickle.loads(pickle.dumps(back, protocol))
    np.testing.assert_array_equal(again(A, B), A @ B)


def test_the_library_outlives_its_file(mm: Compiled) -> None:
    written = pickle.dumps(mm)
    Path(mm.path).unlink()
    back = pickle.loads(written)
    assert Path(back.path).parent != Path(mm.path).parent
    np.testing.assert_array_equal(back(A, B), A @ B)
    mm._packed = None
    with pytest.raises(ToolchainError, match=r"cannot pickle mm: its library is gone[^\n]*\nhint: compile"):
        pickle.dumps(mm)


@pytest.mark.parametrize("mode", ["off", "readonly"])
def test_without_a_cache(mm: Compiled, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", mode)
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(Path(mm.path).parent / "nothing"))
    back = pickle.loads(pickle.dumps(mm))
    np.testing.assert_array_equal(back(A, B), A @ B)
    assert not Path(back.path).exists()


def test_a_worker_opens_it_once(mm: Compiled) -> None:
    written = pickle.dumps(mm)
    assert pickle.loads(written) is pickle.loads(written)


def _changed(mm: Compiled, part: int, at: int) -> bytes:
    """The pickle with one byte of digest, description or library changed."""
    library = mm._library("pickle")
    parts = [each if isinstance(each, bytes) else each.encode() for each in _packed_parts(mm, library)]
    data = bytearray(parts[part])
    data[at] ^= 1
    parts[part] = bytes(data)
    mm._packed = (parts[0].decode(), parts[1].decode(), parts[2])
    return pickle.dumps(mm)


def _packed_parts(mm: Compiled, library: bytes) -> tuple[str, str, bytes]:
    return packed(Parcel(mm._metadata(library), library, ()))


@pytest.mark.parametrize(("part", "at"), [(0, 5), (1, 40), (1, -9), (2, 0), (2, 4000), (2, -1)])
def test_damage_is_noticed_before_anything_is_opened(
    mm: Compiled, part: int, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _changed(mm, part, at)
    monkeypatch.setattr(module, "_opened", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(ToolchainError, match="a pickled pipeline is damaged: its SHA-256 is another one"):
        pickle.loads(written)


def _sealed(text: str, image: bytes) -> tuple[str, str, bytes]:
    length = len(text.encode()).to_bytes(8, "little")
    return hashlib.sha256(length + text.encode() + image).hexdigest(), text, image


def test_what_is_no_pickle_of_this_version(mm: Compiled) -> None:
    _, text, image = _packed_parts(mm, mm._library("pickle"))
    written, described, flags = json.loads(text)
    for changed, why in [
        ("[]", "not enough values"),
        (json.dumps(["polymat pickle 0", described, flags]), "its format is not 'polymat pickle 1'"),
        (json.dumps([written, "{}", flags]), "not a saved pipeline of format"),
    ]:
        with pytest.raises(ToolchainError, match=f"a pickled pipeline is not usable: .*{why}"):
            unpacked(*_sealed(changed, image))
    with pytest.raises(ToolchainError, match="the pickled library of mm is another one"):
        unpacked(*_sealed(text, image + b"\0"))
    with pytest.raises(ToolchainError, match="is not what it should be"):
        unpacked("", text, None)
    assert unpacked(*_sealed(text, image)).flags == ()


def test_a_pickle_calls_nothing_else(mm: Compiled) -> None:
    named = {
        argument
        for opcode, argument, _ in pickletools.genops(pickle.dumps(mm, 3))
        if opcode.name in ("GLOBAL", "INST")
    }
    assert named == {"polymat.runtime.compiled _unpickled"}


def test_on_another_processor_it_is_compiled_again(product: Compiled) -> None:
    library = product._library("pickle")
    product_elsewhere = Compiled(
        product.path, product.signature, source=product.source, cpu=ELSEWHERE, image=library,
        flags=product._flags,
    )  # fmt: skip
    back = pickle.loads(pickle.dumps(product_elsewhere))
    assert back.cpu == native_cpu()
    np.testing.assert_array_equal(back(A, B), A @ B)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(back))(A, B), A @ B)


def test_where_it_cannot_be_compiled_again(
    mm: Compiled, product: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = "mm was compiled for a processor with avx9999, which this one lacks, and it"
    unknown = Compiled(mm.path, mm.signature, source=mm.source, cpu=ELSEWHERE)
    with pytest.raises(ToolchainError, match=f"{lacks} was loaded from a file, which does not say how"):
        pickle.loads(pickle.dumps(unknown))
    known = Compiled(
        product.path, product.signature, source=product.source, cpu=ELSEWHERE,
        image=product._library("pickle"), flags=product._flags,
    )  # fmt: skip
    monkeypatch.setenv("POLYMAT_CC", "/nowhere/cc")
    with pytest.raises(ToolchainError, match=f"{lacks} cannot be compiled again: .*/nowhere/cc"):
        pickle.loads(pickle.dumps(known))


def test_processes(product: Compiled) -> None:
    """Workers that share nothing with this process call it, and send its errors back whole."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(product, [A, 2 * A, 3 * A], [B] * 3):
            assert found.shape == (4, 5)
        np.testing.assert_array_equal(pool.submit(product, A, B=B).result(), A @ B)
        wrong = pool.submit(product, A, A).exception()
    assert isinstance(wrong, ArgumentError)
    with pytest.raises(ArgumentError) as here:
        product(A, A)
    assert str(wrong) == str(here.value)


def test_errors_survive_pickling() -> None:
    tool = ToolchainError("no", command=("cc", "-x"), stderr="e", source_path="s", hint="h")
    for error in (tool, BoundsError("out", at=Location("f.py", 3), hint="h"), ArgumentError("bad", hint="h")):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert str(back) == str(error)


def test_cloudpickle(product: Compiled) -> None:
    cloudpickle: Any = pytest.importorskip("cloudpickle")
    back = pickle.loads(cloudpickle.dumps(lambda a: product(a, B)))
    np.testing.assert_array_equal(back(A), A @ B)


def test_joblib(product: Compiled) -> None:
    joblib: Any = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(product)(k * A, B) for k in range(4))
    for k, each in enumerate(found):
        np.testing.assert_array_equal(each, k * A @ B)


def test_dask_processes(product: Compiled) -> None:
    dask: Any = pytest.importorskip("dask")
    tasks = [dask.delayed(product, pure=True)(k * A, B) for k in range(4)]
    for k, each in enumerate(dask.compute(*tasks, scheduler="processes", num_workers=2)):
        np.testing.assert_array_equal(each, k * A @ B)
