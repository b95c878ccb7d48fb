"""Small pipelines in C that call BLAS and FFT routines as generated code does, and libraries that lie."""

from __future__ import annotations

import subprocess
from pathlib import Path

from polymat.codegen.c.abi import Array, Signature, Size, mark
from polymat.codegen.c.needs import Piece
from polymat.codegen.prelude import prelude
from polymat.codegen.routines.cblas import cblas_routine
from polymat.codegen.routines.fftw import FftNeed
from polymat.codegen.routines.librarylinks import routines_of
from polymat.runtime.compiled import Compiled
from tests.runtime.hand_written import matrix, symbol

FLAGS = ("-std=gnu11", "-O2", "-fopenmp", "-shared", "-fPIC")

_ENTRY = """
int _pm_entry(void *const *arrays, const ptrdiff_t *sizes, const void *scalars, int threads)
{
    (void)scalars;
    threads = _pm_team(threads, 1.0, 0.0);
    if (!_pm_routines_ready())
        return 2;
%s
    return 0;
}

double _pm_work(const ptrdiff_t *sizes)
{
    (void)sizes;
    return 1e9;
}
"""
PRODUCT_HEADER = (
    "int product(const double *A, const double *B, double *C, ptrdiff_t, ptrdiff_t, ptrdiff_t);\n"
)
_PRODUCT = """\
    const ptrdiff_t m = sizes[0], k = sizes[1], n = sizes[2];
    double *const c = arrays[2];
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int block = 0; block < 4; block++) {
        const ptrdiff_t from = block * m / 4, rows = (block + 1) * m / 4 - from;
        _pm_cblas_dgemm(111, 111, rows, n, k, 1.0, (const double *)arrays[0] + from * k, k, arrays[1], n, 0.0,
                        c + from * n, n);
    }"""
_PRODUCT_IN_C = """
int product(const double *A, const double *B, double *C, ptrdiff_t m, ptrdiff_t k, ptrdiff_t n)
{
    void *const arrays[] = {(void *)(uintptr_t)A, (void *)(uintptr_t)B, C};
    const ptrdiff_t sizes[] = {m, k, n};
    return _pm_entry(arrays, sizes, NULL, 2);
}
"""
_TRANSFORM = """\
    const ptrdiff_t count = sizes[0], n = sizes[1];
    const @C@ *const x = arrays[0];
    @C@ *const y = arrays[1];
    const _pm_fft_dim dim = {n, 1, 1};
    if (n == 0 || count == 0)
        return 0;
    const uintptr_t alignment = (uintptr_t)x | (uintptr_t)y | (uintptr_t)n * sizeof *x;
    _pm_@P@_plan *plan = _pm_@P@_plan_for(_PM_C2C, -1, @RIGOUR@, 1, &dim, 0, NULL, arrays[0], y, alignment);
    if (plan == NULL)
        return 1;
#pragma omp parallel for num_threads(threads)
    for (ptrdiff_t row = 0; row < count; row++)
        _pm_@P@_run(plan, x + row * n, y + row * n);
    _pm_@P@_done(plan);"""


def product_signature() -> Signature:
    """C = A B in doubles, blocks of rows in parallel."""
    return Signature(
        "product",
        inputs=(matrix("A", 0, 1), matrix("B", 1, 2)),
        outputs=(matrix("C", 0, 2),),
        sizes=(Size("M", 0, 0), Size("K", 0, 1), Size("N", 1, 1)),
        order=("A", "B"),
        routines=("cblas_dgemm",),
    )


def product(directory: Path) -> Compiled:
    """The product, loaded."""
    head = prelude(frozenset({Piece.TEAM, cblas_routine("cblas_dgemm")}))
    source = head + _ENTRY % _PRODUCT + _PRODUCT_IN_C
    source += f'const char _pm_signature[] = "{mark(product_signature())}";\n'
    return Compiled(library(directory, "product", source), product_signature(), header=PRODUCT_HEADER)


def transform(directory: Path, dtype: str = "complex128", rigour: str = "_PM_ESTIMATE") -> Compiled:
    """The transform of every row."""
    need, ctype = {
        "complex128": (FftNeed.DOUBLE, "double _Complex"),
        "complex64": (FftNeed.SINGLE, "float _Complex"),
    }[dtype]
    prefix = need.prefix
    extents = (symbol(0), symbol(1))
    signature = Signature(
        f"transform{rigour}",
        inputs=(Array("X", dtype, extents),),
        outputs=(Array("Y", dtype, extents),),
        sizes=(Size("M", 0, 0), Size("N", 0, 1)),
        order=("X",),
        routines=routines_of({need}),
    )
    body = _TRANSFORM.replace("@P@", prefix).replace("@C@", ctype).replace("@RIGOUR@", rigour)
    source = prelude(frozenset({Piece.TEAM, need})) + _ENTRY % body
    return Compiled(library(directory, f"transform_{prefix}{rigour}", source), signature)


def fake_blas(directory: Path, name: str = "libopenblas.so.0", *, body: str = "(void)p;") -> Path:
    """A library with the names of CBLAS that does something else."""
    names = ["cblas_dgemv", "cblas_sgemv", "cblas_dsyrk", *(f"cblas_{letter}gemm" for letter in "sdcz")]
    source = "\n".join(f"void {routine}(int p) {{ {body} }}" for routine in names)
    return library(directory, name, source)


def library(directory: Path, name: str, source: str, *others: Path) -> Path:
    """Compile a C text to lib<name>.so, or to the name if it is one of a file; others: it is linked to."""
    directory.mkdir(parents=True, exist_ok=True)
    text = directory / f"{name}.c"
    text.write_text(source)
    library = directory / (name if ".so" in name else f"lib{name}.so")
    linked = [text for other in others for text in (str(other), f"-Wl,-rpath,{other.parent}")]
    subprocess.run(["gcc", *FLAGS, "-o", str(library), str(text), "-Wl,--no-as-needed", *linked], check=True)
    return library
