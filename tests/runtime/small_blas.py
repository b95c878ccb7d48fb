"""A BLAS in plain C that is right, and has little else than products: what a user's own may be."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.library_callers import library

_SOURCE = """
#include <complex.h>
#define AT(X, ld, trans, r, c) ((trans) == 111 ? (X)[(r) * (ld) + (c)] : (X)[(c) * (ld) + (r)])
#define OP(X, ld, trans, r, c, CONJ) ((trans) == 113 ? CONJ((X)[(c) * (ld) + (r)]) : AT(X, ld, trans, r, c))
#define GEMM(name, T, S, VALUE, CONJ) \\
    void name(int order, int ta, int tb, int m, int n, int k, S alpha, const T *a, int lda, const T *b, \\
              int ldb, S beta, T *c, int ldc) \\
    { \\
        (void)order; \\
        for (int i = 0; i < m; i++) \\
            for (int j = 0; j < n; j++) { \\
                T sum = 0; \\
                for (int l = 0; l < k; l++) \\
                    sum += OP(a, lda, ta, i, l, CONJ) * OP(b, ldb, tb, l, j, CONJ); \\
                T *const to = &c[i * ldc + j]; \\
                *to = VALUE(alpha) * sum + (VALUE(beta) == 0 ? 0 : VALUE(beta) * *to); \\
            } \\
    }
#define PLAIN(x) (x)
#define THERE(x) (*(x))
GEMM(cblas_sgemm, float, float, PLAIN, PLAIN)
GEMM(cblas_dgemm, double, double, PLAIN, PLAIN)
GEMM(cblas_cgemm, float _Complex, const float _Complex *, THERE, conjf)
GEMM(cblas_zgemm, double _Complex, const double _Complex *, THERE, conj)
#define GEMV(name, T) \\
    void name(int order, int ta, int m, int n, T alpha, const T *a, int lda, const T *x, int dx, T beta, \\
              T *y, int dy) \\
    { \\
        (void)order; \\
        for (int i = 0; i < (ta == 111 ? m : n); i++) { \\
            T sum = 0; \\
            for (int l = 0; l < (ta == 111 ? n : m); l++) \\
                sum += AT(a, lda, ta, i, l) * x[l * dx]; \\
            y[i * dy] = alpha * sum + (beta == 0 ? 0 : beta * y[i * dy]); \\
        } \\
    }
GEMV(cblas_sgemv, float)
GEMV(cblas_dgemv, double)
void cblas_dsyrk(int order, int uplo, int ta, int n, int k, double alpha, const double *a, int lda,
                 double beta, double *c, int ldc)
{
    (void)order;
    for (int i = 0; i < n; i++)
        for (int j = uplo == 122 ? 0 : i; j < (uplo == 122 ? i + 1 : n); j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += AT(a, lda, ta, i, l) * AT(a, lda, ta, j, l);
            c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
        }
}
"""


def small_blas(directory: Path, more: str = "") -> Path:
    """Its file; more: C text of further routines."""
    return library(directory, "libopenblas.so.0", _SOURCE + more)
