/* PolyBench's thirteen products in plain loops, as the suite orders them; results go to arrays of their own, as
   everywhere in these benchmarks.  n: sizes in the order of the kernel's table; a: inputs; r: results. */
#include <string.h>

#define ALPHA 1.5
#define BETA 1.2
#define KERNEL(name) void name(const long *n, double *const *a, double *const *r)
#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for")
#else
#define PARALLEL
#endif

/* R = alpha A B, A m x k, B k x p, added to what is there. */
static void add_product(long m, long p, long k, double alpha, const double (*A)[k], const double (*B)[p],
                        double (*R)[p]) {
    PARALLEL
    for (long i = 0; i < m; i++)
        for (long l = 0; l < k; l++)
            for (long j = 0; j < p; j++) R[i][j] += alpha * A[i][l] * B[l][j];
}

static void scale(long count, double beta, const double *C, double *R) {
    PARALLEL
    for (long i = 0; i < count; i++) R[i] = beta * C[i];
}

#define M(array, columns) ((const double(*)[columns])(array))
#define OUT(array, columns) ((double(*)[columns])(array))

KERNEL(gemm) { /* NI NJ NK: A B C */
    scale(n[0] * n[1], BETA, a[2], r[0]);
    add_product(n[0], n[1], n[2], ALPHA, M(a[0], n[2]), M(a[1], n[1]), OUT(r[0], n[1]));
}

KERNEL(two_mm) { /* NI NJ NK NL: A B C D, and room for A B */
    memset(r[1], 0, sizeof(double) * n[0] * n[1]);
    add_product(n[0], n[1], n[2], ALPHA, M(a[0], n[2]), M(a[1], n[1]), OUT(r[1], n[1]));
    scale(n[0] * n[3], BETA, a[3], r[0]);
    add_product(n[0], n[3], n[1], 1.0, M(r[1], n[1]), M(a[2], n[3]), OUT(r[0], n[3]));
}

KERNEL(three_mm) { /* NI NJ NK NL NM: A B C D, and room for A B and C D */
    memset(r[0], 0, sizeof(double) * n[0] * n[3]);
    memset(r[1], 0, sizeof(double) * n[0] * n[1]);
    memset(r[2], 0, sizeof(double) * n[1] * n[3]);
    add_product(n[0], n[1], n[2], 1.0, M(a[0], n[2]), M(a[1], n[1]), OUT(r[1], n[1]));
    add_product(n[1], n[3], n[4], 1.0, M(a[2], n[4]), M(a[3], n[3]), OUT(r[2], n[3]));
    add_product(n[0], n[3], n[1], 1.0, M(r[1], n[1]), M(r[2], n[3]), OUT(r[0], n[3]));
}

KERNEL(symm) { /* M N: A B C; columns are independent, rows are not */
    const double(*A)[n[0]] = M(a[0], n[0]), (*B)[n[1]] = M(a[1], n[1]), (*C)[n[1]] = M(a[2], n[1]);
    double(*R)[n[1]] = OUT(r[0], n[1]);
    for (long i = 0; i < n[0]; i++) {
        PARALLEL
        for (long j = 0; j < n[1]; j++) {
            double sum = 0.0;
            for (long k = 0; k < i; k++) {
                R[k][j] += ALPHA * B[i][j] * A[i][k];
                sum += B[k][j] * A[i][k];
            }
            R[i][j] = BETA * C[i][j] + ALPHA * B[i][j] * A[i][i] + ALPHA * sum;
        }
    }
}

KERNEL(syrk) { /* M N: A C */
    const double(*A)[n[0]] = M(a[0], n[0]), (*C)[n[1]] = M(a[1], n[1]);
    double(*R)[n[1]] = OUT(r[0], n[1]);
    PARALLEL
    for (long i = 0; i < n[1]; i++) {
        for (long j = 0; j <= i; j++) R[i][j] = BETA * C[i][j];
        for (long j = i + 1; j < n[1]; j++) R[i][j] = C[i][j];
        for (long k = 0; k < n[0]; k++)
            for (long j = 0; j <= i; j++) R[i][j] += ALPHA * A[i][k] * A[j][k];
    }
}

KERNEL(syr2k) { /* M N: A B C */
    const double(*A)[n[0]] = M(a[0], n[0]), (*B)[n[0]] = M(a[1], n[0]), (*C)[n[1]] = M(a[2], n[1]);
    double(*R)[n[1]] = OUT(r[0], n[1]);
    PARALLEL
    for (long i = 0; i < n[1]; i++) {
        for (long j = 0; j <= i; j++) R[i][j] = BETA * C[i][j];
        for (long j = i + 1; j < n[1]; j++) R[i][j] = C[i][j];
        for (long k = 0; k < n[0]; k++)
            for (long j = 0; j <= i; j++) R[i][j] += A[j][k] * ALPHA * B[i][k] + B[j][k] * ALPHA * A[i][k];
    }
}

KERNEL(trmm) { /* M N: A B */
    const double(*A)[n[0]] = M(a[0], n[0]), (*B)[n[1]] = M(a[1], n[1]);
    double(*R)[n[1]] = OUT(r[0], n[1]);
    PARALLEL
    for (long i = 0; i < n[0]; i++)
        for (long j = 0; j < n[1]; j++) {
            double sum = B[i][j];
            for (long k = i + 1; k < n[0]; k++) sum += A[k][i] * B[k][j];
            R[i][j] = ALPHA * sum;
        }
}

KERNEL(doitgen) { /* NR NQ NP: A C4 */
    const double(*A)[n[2]] = M(a[0], n[2]), (*C4)[n[2]] = M(a[1], n[2]);
    double(*R)[n[2]] = OUT(r[0], n[2]);
    PARALLEL
    for (long i = 0; i < n[0] * n[1]; i++)
        for (long p = 0; p < n[2]; p++) {
            double sum = 0.0;
            for (long s = 0; s < n[2]; s++) sum += A[i][s] * C4[s][p];
            R[i][p] = sum;
        }
}

KERNEL(gemver) { /* N: A u1 v1 u2 v2 w x y z, and room for the updated A and x */
    const double(*A)[*n] = M(a[0], *n), *u1 = a[1], *v1 = a[2], *u2 = a[3], *v2 = a[4], *y = a[7];
    double(*B)[*n] = OUT(r[1], *n), *x = r[2];
    PARALLEL
    for (long i = 0; i < *n; i++)
        for (long j = 0; j < *n; j++) B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    memcpy(x, a[6], sizeof(double) * *n);
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : x[: *n])
#endif
    for (long i = 0; i < *n; i++)
        for (long j = 0; j < *n; j++) x[j] += BETA * B[i][j] * y[i];
    for (long i = 0; i < *n; i++) x[i] += a[8][i];
    PARALLEL
    for (long i = 0; i < *n; i++) {
        double sum = a[5][i];
        for (long j = 0; j < *n; j++) sum += ALPHA * B[i][j] * x[j];
        r[0][i] = sum;
    }
}

KERNEL(gesummv) { /* N: A B x */
    const double(*A)[*n] = M(a[0], *n), (*B)[*n] = M(a[1], *n), *x = a[2];
    PARALLEL
    for (long i = 0; i < *n; i++) {
        double first = 0.0, second = 0.0;
        for (long j = 0; j < *n; j++) {
            first += A[i][j] * x[j];
            second += B[i][j] * x[j];
        }
        r[0][i] = ALPHA * first + BETA * second;
    }
}

KERNEL(atax) { /* M N: A x */
    const double(*A)[n[1]] = M(a[0], n[1]), *x = a[1];
    double *y = r[0];
    memset(y, 0, sizeof(double) * n[1]);
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : y[: n[1]])
#endif
    for (long i = 0; i < n[0]; i++) {
        double sum = 0.0;
        for (long j = 0; j < n[1]; j++) sum += A[i][j] * x[j];
        for (long j = 0; j < n[1]; j++) y[j] += A[i][j] * sum;
    }
}

KERNEL(bicg) { /* M N: A (N x M) p r */
    const double(*A)[n[0]] = M(a[0], n[0]), *p = a[1];
    double *s = r[0], *q = r[1];
    memset(s, 0, sizeof(double) * n[0]);
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : s[: n[0]])
#endif
    for (long i = 0; i < n[1]; i++) {
        double sum = 0.0;
        for (long j = 0; j < n[0]; j++) {
            s[j] += a[2][i] * A[i][j];
            sum += A[i][j] * p[j];
        }
        q[i] = sum;
    }
}

KERNEL(mvt) { /* N: A x1 x2 y1 y2 */
    const double(*A)[*n] = M(a[0], *n), *y1 = a[3], *y2 = a[4];
    PARALLEL
    for (long i = 0; i < *n; i++) {
        double sum = a[1][i];
        for (long j = 0; j < *n; j++) sum += A[i][j] * y1[j];
        r[0][i] = sum;
    }
    PARALLEL
    for (long i = 0; i < *n; i++) {
        double sum = a[2][i];
        for (long j = 0; j < *n; j++) sum += A[j][i] * y2[j];
        r[1][i] = sum;
    }
}

#include "clock.h"

double timed(void (*kernel)(const long *, double *const *, double *const *), const long *n, double *const *a,
             double *const *r, long count) {
    TIMED(count, kernel(n, a, r));
}
