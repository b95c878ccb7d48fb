"""Generated code that calls BLAS and FFT libraries: chosen, tried out, private, and used by many threads."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from polymat.codegen.c.abi import LIBRARY_MISSING
from polymat.codegen.c.needs import Piece
from polymat.codegen.prelude import prelude
from polymat.codegen.routines.fftw import FftNeed
from polymat.errors import ToolchainError
from polymat.idiom.librarymodel import Kind
from polymat.runtime import providers
from polymat.runtime.compiled import Compiled, load
from polymat.runtime.libraries import Library, found_libraries
from polymat.runtime.providers import provider
from polymat.runtime.threads import threads
from tests.runtime import library_callers as callers

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test chooses anew."""
    monkeypatch.setattr(providers, "_chosen", {})
    for name in ("POLYMAT_BLAS", "POLYMAT_FFT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return callers.product(tmp_path_factory.mktemp("product"))


@pytest.mark.parametrize("shape", [(0, 0, 0), (1, 1, 1), (5, 0, 3), (0, 4, 2), (7, 13, 5), (64, 65, 63)])
def test_a_product_by_blocks(product: Compiled, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b = RNG.integers(-9, 9, (m, k)).astype(float), RNG.integers(-9, 9, (k, n)).astype(float)
    for count in (1, 2):
        with threads(count):
            np.testing.assert_array_equal(product(a, b), a @ b)


@pytest.mark.covering
@pytest.mark.parametrize(("dtype", "tolerance"), [("complex128", 1e-14), ("complex64", 1e-6)])
@pytest.mark.parametrize("rigour", ["_PM_ESTIMATE", "_PM_MEASURE"])
def test_transforms_of_every_length(tmp_path: Path, dtype: str, tolerance: float, rigour: str) -> None:
    transform = callers.transform(tmp_path, dtype, rigour)
    for n in (0, 1, 2, 3, 7, 8, 16, 31, 60, 64, 97, 128):
        x = (RNG.standard_normal((5, n)) + 1j * RNG.standard_normal((5, n))).astype(dtype)
        expected = np.fft.fft(x, axis=1) if n else x
        for _ in range(2):
            np.testing.assert_allclose(transform(x), expected, rtol=0, atol=tolerance * max(n, 1))


def test_more_plans_than_are_kept_by_several_threads(tmp_path: Path) -> None:
    transform = callers.transform(tmp_path)

    def one(n: int) -> bool:
        x = np.random.default_rng(n).standard_normal((2, n)) + 0j
        return bool(np.allclose(transform(x), np.fft.fft(x, axis=1)))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, [*range(1, 300), *range(1, 300)]))


def test_products_by_several_threads(product: Compiled) -> None:
    a = RNG.integers(-9, 9, (60, 50)).astype(float)
    expected = a @ a.T
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(lambda _: product(a, a.T.copy()), range(200))
        assert all(np.array_equal(result, expected) for result in results)


def test_a_forked_child_multiplies_and_transforms(product: Compiled, tmp_path: Path) -> None:
    transform = callers.transform(tmp_path)
    a = np.arange(64.0).reshape(8, 8)
    expected, spectrum = product(a, a), np.fft.fft(a, axis=1)
    child = os.fork()
    if child == 0:
        right = np.array_equal(product(a, a), expected) and np.allclose(transform(a + 0j), spectrum)
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.allclose(transform(a + 0j), spectrum)


def test_none_is_an_error_only_for_who_needs_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYMAT_BLAS", "none")
    assert provider("blas") is None
    with pytest.raises(ToolchainError) as caught:
        callers.product(tmp_path)
    assert str(caught.value).startswith("product calls BLAS routines, and POLYMAT_BLAS is 'none'")
    assert "POLYMAT_BLAS names one" in str(caught.value)


@pytest.mark.parametrize("asked", ["no_such", "/no/such/libblas.so"])
def test_what_is_asked_for_and_missing_is_an_error(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_BLAS", asked)
    for _ in range(2):
        with pytest.raises(ToolchainError, match=f"POLYMAT_BLAS is '{asked}'") as caught:
            provider("blas")
    assert caught.value.hint == (
        "it may be auto, none, a name that is found (openblas), or the path of a library, with a / in it"
    )


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (".", "no library of that name is found"),
        ("libm.so.6", "no library of that name is found"),
        (":", "it names no file"),
        ("./", ". cannot be loaded: it is a directory"),
        ("/dev/zero", "/dev/zero cannot be loaded: it is no regular file"),
        ("/etc/passwd", "/etc/passwd cannot be loaded: it is no shared library"),
    ],
)
@pytest.mark.parametrize("kind", ["blas", "fft"])
def test_what_is_no_library(kind: Kind, asked: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"POLYMAT_{kind.upper()}"
    monkeypatch.setenv(variable, asked)
    with pytest.raises(ToolchainError) as caught:
        provider(kind)
    assert str(caught.value).startswith(f"{variable} is {asked!r}: {reason}\n")


@pytest.mark.parametrize("asked", ["", " ", "Auto", "OpenBLAS", " openblas "])
def test_names_in_either_case(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_BLAS", asked)
    found = provider("blas")
    assert found is not None
    assert found.name == "openblas"


def test_a_wrong_library_is_left_out_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is found first; the right one after it is taken."""
    fake = callers.fake_blas(tmp_path)
    lists = found_libraries()
    library = Library("blas", "openblas", fake, "environment")
    monkeypatch.setattr(providers, "found_libraries", lambda: (library, *lists))
    with caplog.at_level(logging.WARNING, "polymat.libraries"):
        found = provider("blas")
    assert found is not None
    assert fake not in found.paths
    assert f"not used: {fake} gives wrong results: cblas_dgemm" in caplog.text


def test_a_wrong_library_that_is_asked_for_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POLYMAT_BLAS", str(callers.fake_blas(tmp_path)))
    with pytest.raises(ToolchainError, match="gives wrong results: cblas_dgemm"):
        provider("blas")


def test_a_library_without_the_routines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fftw = provider("fft")
    assert fftw is not None
    monkeypatch.setenv("POLYMAT_BLAS", str(fftw.paths[0]))
    with pytest.raises(ToolchainError, match=r"libfftw3.* has no cblas_dgemm"):
        provider("blas")
    text = tmp_path / "libopenblas.so"
    text.write_text("this is no library, and long enough to be looked at: " + 64 * "-")
    monkeypatch.setenv("POLYMAT_BLAS", str(text))
    with pytest.raises(ToolchainError, match=r"cannot be loaded: it is no shared library"):
        provider("blas")


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.5, 0.9])
def test_a_library_that_is_cut_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, share: float) -> None:
    """The dynamic loader ends the process when it reads what is not there."""
    whole = provider("fft")
    assert whole is not None
    contents = whole.paths[0].read_bytes()
    part = tmp_path / "libfftw3.so"
    part.write_bytes(contents[: 8 + int(share * len(contents))])
    monkeypatch.setenv("POLYMAT_FFT", str(part))
    with pytest.raises(ToolchainError, match=r"libfftw3.so cannot be loaded: it is cut off"):
        provider("fft")


@pytest.mark.parametrize(
    "body",
    [
        'const char *openblas_get_config(void) { return "OpenBLAS 0.3 USE64BITINT "; }',
        "long bli_info_get_blas_int_type_size(void) { return 64; }",
        "void scipy_cblas_dgemm64_(void) { }",
        "void cblas_dgemm_64(void) { }",
    ],
    ids=["openblas", "blis", "suffix of openblas", "suffix"],
)
def test_libraries_with_long_integers_are_refused(
    body: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = callers.library(tmp_path, "libopenblas.so.0", body)
    monkeypatch.setenv("POLYMAT_BLAS", str(fake))
    with pytest.raises(ToolchainError, match="takes integers of 64 bits"):
        provider("blas")


def test_the_files_of_both_precisions_by_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual = provider("fft")
    assert usual is not None
    assert len(usual.paths) == 2
    monkeypatch.setenv("POLYMAT_FFT", ":".join(map(str, usual.paths)))
    named = provider("fft")
    assert named is not None
    assert named.paths == usual.paths
    x = RNG.standard_normal((3, 12)).astype("complex64")
    np.testing.assert_allclose(callers.transform(tmp_path, "complex64")(x), np.fft.fft(x, axis=1), atol=1e-5)


def test_saved_products(product: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded by Python it gets the library; loaded by C it finds it, or says that it does not."""
    path = product.save(tmp_path / "saved")
    a = np.arange(12.0).reshape(3, 4)
    again = load(path)
    assert again.signature.routines == ("cblas_dgemm",)
    np.testing.assert_array_equal(again(a, a.T.copy()), a @ a.T)
    main = tmp_path / "main.c"
    main.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "product.h"\n'
        "int main(void) { double a[6] = {1, 2, 3, 4, 5, 6}, c[4] = {-1, -1, -1, -1};\n"
        "  int status = product(a, a, c, 2, 3, 2);\n"
        '  printf("%d %g %g %g %g\\n", status, c[0], c[1], c[2], c[3]); return 0; }\n'
    )
    program = tmp_path / "main"
    command = ["gcc", "-o", program, main, f"-I{path.parent}", f"-L{path.parent}", "-lproduct"]
    subprocess.run([*map(str, command), f"-Wl,-rpath,{path.parent}"], check=True)
    blas = provider("blas")
    assert blas is not None

    def shown(asked: str) -> str:
        env = {**os.environ, "POLYMAT_BLAS": asked}
        return subprocess.run([program], capture_output=True, text=True, check=True, env=env).stdout

    assert shown(str(blas.paths[0])) == "0 22 28 49 64\n"
    assert shown(f"/no/such.so::{blas.paths[0]}") == "0 22 28 49 64\n"
    assert shown("/no/such.so") == f"{LIBRARY_MISSING} -1 -1 -1 -1\n"
    monkeypatch.setenv("POLYMAT_BLAS", "none")
    with pytest.raises(ToolchainError, match="product calls BLAS routines"):
        load(path)


def test_numpy_keeps_its_own_blas_and_the_process_its_environment(tmp_path: Path) -> None:
    """In a process of its own: the same BLAS with the same threads as before, and no threads of ours."""
    script = """
import ctypes, os, pathlib
import numpy as np
os.environ["OPENBLAS_NUM_THREADS"] = "2"
a = np.ones((300, 300)); a @ a
def libraries():
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return sorted({line.split()[-1] for line in lines if "blas" in line and "polymat-" not in line})
def threads():
    return len(os.listdir("/proc/self/task"))
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
before, count = libraries(), threads()
from polymat.runtime.providers import provider
found = provider("blas")
assert libraries() == before, libraries()
assert threads() == count, threads()
assert getenv(b"OPENBLAS_NUM_THREADS") == b"2" and getenv(b"MKL_NUM_THREADS") is None
print(found.name)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("openblas\n", "")


def test_thread_pools_that_were_there_stay_as_they_were(tmp_path: Path) -> None:
    """As `threadpool_info()` finds them, by the names of files; new is the run-time of OpenMP alone."""
    script = """
import ctypes, os, pathlib, re, sys
import numpy as np
from tests.runtime import library_callers as callers
FILES = r"lib(scipy_)?(openblas|mkl_rt|blis|flexiblas|gomp|iomp|omp)"
COUNTS = ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads", "omp_get_max_threads")
def pools():
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    files = {line.split()[-1] for line in lines if re.match(FILES, os.path.basename(line.split()[-1]))}
    handles = {file: ctypes.CDLL(file, mode=os.RTLD_NOW | os.RTLD_NOLOAD) for file in files}
    return {f: [getattr(h, count)() for count in COUNTS if hasattr(h, count)] for f, h in handles.items()}
a = np.ones((200, 200)); expected = a @ a
before = pools()
assert any("openblas" in file for file in before), before
assert np.array_equal(callers.product(pathlib.Path(sys.argv[1]))(a, a), expected)
after = pools()
print(before == {file: counts for file, counts in after.items() if file in before})
print(sorted(os.path.basename(file)[:7] for file in after if file not in before))
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert (ran.stdout, ran.stderr) == ("True\n['libgomp']\n", "")


@pytest.mark.parametrize("mode", ["off", "readonly", "on"])
def test_the_copy_with_any_cache(mode: str, tmp_path: Path) -> None:
    script = "from polymat.runtime.providers import provider; print(provider('blas').name)"
    env = {**os.environ, "POLYMAT_CACHE": mode, "POLYMAT_CACHE_DIR": str(tmp_path / "cache")}

    def shown() -> str:
        command = [sys.executable, "-c", script]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        return ran.stdout + ran.stderr

    assert [shown(), shown()] == ["openblas\n"] * 2
    copies = list((tmp_path / "cache").rglob("polymat-openblas-*.so"))
    assert len(copies) == (mode == "on")
    if copies:  # one that was cut off is made anew
        os.truncate(copies[0], 1000)
        assert shown() == "openblas\n"


def test_what_was_measured_is_kept_for_the_next_process(tmp_path: Path) -> None:
    """The second process plans by measuring without measuring, as estimated plans would not be kept."""
    script = """
import pathlib, sys
import numpy as np
from tests.runtime import library_callers as callers
transform = callers.transform(pathlib.Path(sys.argv[1]), "complex128", sys.argv[2])
x = np.arange(2.0 * 96).reshape(2, 96) + 0j
assert np.allclose(transform(x), np.fft.fft(x, axis=1))
"""
    cache = tmp_path / "cache"
    env = {**os.environ, "POLYMAT_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}

    def kept(rigour: str) -> list[str]:
        command = [sys.executable, "-c", script, str(tmp_path), rigour]
        subprocess.run(command, check=True, env=env)
        return [path.read_text() for path in sorted(cache.glob("wisdom-*.txt"))]

    assert kept("_PM_ESTIMATE") == []
    first = kept("_PM_MEASURE")
    assert any("fftw_wisdom" in text for text in first)
    assert kept("_PM_ESTIMATE") == first
    for path in cache.glob("wisdom-*.txt"):
        path.write_text("(this is not wisdom")
    assert any("fftw_wisdom" in text for text in kept("_PM_MEASURE"))


def test_transforms_of_a_program_without_python(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        prelude(frozenset({*FftNeed, Piece.COMPLEX}))
        + """
#include <stdio.h>
int main(void)
{
    double _Complex x[4] = {1, 2, 3, 4}, y[4];
    const _pm_fft_dim dim = {4, 1, 1};
    if (!_pm_routines_ready())
        return 2;
    _pm_fftw_plan *plan = _pm_fftw_plan_for(_PM_C2C, -1, _PM_ESTIMATE, 1, &dim, 0, NULL, x, y, 8);
    _pm_fftw_run(plan, x, y);
    _pm_fftw_done(plan);
    printf("%g %g%+gi\\n", creal(y[0]), creal(y[1]), cimag(y[1]));
    return 0;
}
"""
    )
    program = tmp_path / "main"
    subprocess.run(["gcc", "-std=gnu11", "-o", str(program), str(source), "-lpthread", "-ldl"], check=True)
    fftw = provider("fft")
    assert fftw is not None
    for asked, code, shown in (
        (":".join(map(str, fftw.paths)), 0, "10 -2+2i\n"),
        (str(fftw.paths[0]), 2, ""),  # without the other precision
        ("/no/such.so", 2, ""),
    ):
        env = {**os.environ, "POLYMAT_FFT": asked}
        ran = subprocess.run([program], capture_output=True, text=True, check=False, env=env)
        assert (ran.returncode, ran.stdout, ran.stderr) == (code, shown, "")
