/* PolyBench's other seventeen kernels in plain loops, as the suite orders them; results go to arrays of their own.
   n: sizes in the order of the kernel's table; a: inputs; r: results, and room for what lies between. */
#include <math.h>
#include <string.h>

#define KERNEL(name) void name(const long *n, void *const *a, void *const *r)
#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for")
#define PARALLEL_2 _Pragma("omp parallel for collapse(2)")
#else
#define PARALLEL
#define PARALLEL_2
#endif

static void *copied(void *to, const void *from, long bytes) { return memcpy(to, from, bytes); }

static double mean_of(long m, long n, const double (*data)[m], long j) {
    double sum = 0.0;
    for (long i = 0; i < n; i++) sum += data[i][j];
    return sum / n;
}

static void symmetric_products(long m, long n, const double (*z)[m], double scale, double (*R)[m]) {
    PARALLEL
    for (long i = 0; i < m; i++)
        for (long j = i; j < m; j++) {
            double sum = 0.0;
            for (long k = 0; k < n; k++) sum += z[k][i] * z[k][j];
            R[i][j] = R[j][i] = sum / scale;
        }
}

KERNEL(covariance) { /* M N: data; cov, and room for deviations */
    const long m = n[0];
    const double(*data)[m] = a[0];
    double(*z)[m] = r[1];
    PARALLEL
    for (long j = 0; j < m; j++) {
        const double mean = mean_of(m, n[1], data, j);
        for (long i = 0; i < n[1]; i++) z[i][j] = data[i][j] - mean;
    }
    symmetric_products(m, n[1], (const double(*)[m])z, n[1] - 1.0, r[0]);
}

KERNEL(correlation) { /* M N: data; corr, and room for scaled deviations */
    const long m = n[0];
    const double(*data)[m] = a[0];
    double(*z)[m] = r[1], (*corr)[m] = r[0];
    PARALLEL
    for (long j = 0; j < m; j++) {
        const double mean = mean_of(m, n[1], data, j);
        double sum = 0.0;
        for (long i = 0; i < n[1]; i++) sum += (data[i][j] - mean) * (data[i][j] - mean);
        double deviation = sqrt(sum / n[1]);
        if (deviation <= 0.1) deviation = 1.0;
        for (long i = 0; i < n[1]; i++) z[i][j] = (data[i][j] - mean) / (sqrt((double)n[1]) * deviation);
    }
    symmetric_products(m, n[1], (const double(*)[m])z, 1.0, corr);
    for (long i = 0; i < m; i++) corr[i][i] = 1.0;
}

KERNEL(cholesky) { /* N: A */
    const long N = *n;
    double(*A)[N] = copied(r[0], a[0], sizeof(double) * N * N);
    for (long i = 0; i < N; i++) {
        for (long j = 0; j < i; j++) {
            for (long k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (long k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrt(A[i][i]);
        for (long j = i + 1; j < N; j++) A[i][j] = 0.0;
    }
}

static void factor(long N, double (*A)[N]) {
    for (long i = 0; i < N; i++) {
        for (long j = 0; j < i; j++) {
            for (long k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (long j = i; j < N; j++)
            for (long k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j];
    }
}

KERNEL(lu) { /* N: A */
    factor(*n, copied(r[0], a[0], sizeof(double) * *n * *n));
}

KERNEL(ludcmp) { /* N: A b; x, and room for the factors and y */
    const long N = *n;
    double(*A)[N] = copied(r[1], a[0], sizeof(double) * N * N), *b = a[1], *x = r[0], *y = r[2];
    factor(N, A);
    for (long i = 0; i < N; i++) {
        double sum = b[i];
        for (long j = 0; j < i; j++) sum -= A[i][j] * y[j];
        y[i] = sum;
    }
    for (long i = N - 1; i >= 0; i--) {
        double sum = y[i];
        for (long j = i + 1; j < N; j++) sum -= A[i][j] * x[j];
        x[i] = sum / A[i][i];
    }
}

KERNEL(trisolv) { /* N: L b */
    const double(*L)[*n] = a[0], *b = a[1];
    double *x = r[0];
    for (long i = 0; i < *n; i++) {
        x[i] = b[i];
        for (long j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] /= L[i][i];
    }
}

KERNEL(durbin) { /* N: r; y, and room for the next one */
    const double *given = a[0];
    double *y = r[0], *z = r[1], alpha = -given[0], beta = 1.0;
    y[0] = alpha;
    for (long k = 1; k < *n; k++) {
        double sum = 0.0;
        beta *= 1 - alpha * alpha;
        for (long i = 0; i < k; i++) sum += given[k - i - 1] * y[i];
        alpha = -(given[k] + sum) / beta;
        for (long i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (long i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
}

KERNEL(gramschmidt) { /* M N: A; R Q, and room for A */
    const long rows = n[0], N = n[1];
    double(*A)[N] = copied(r[2], a[0], sizeof(double) * rows * N), (*R)[N] = r[0], (*Q)[N] = r[1];
    memset(R, 0, sizeof(double) * N * N);
    for (long k = 0; k < N; k++) {
        double square = 0.0;
        for (long i = 0; i < rows; i++) square += A[i][k] * A[i][k];
        R[k][k] = sqrt(square);
        for (long i = 0; i < rows; i++) Q[i][k] = A[i][k] / R[k][k];
        PARALLEL
        for (long j = k + 1; j < N; j++) {
            double sum = 0.0;
            for (long i = 0; i < rows; i++) sum += Q[i][k] * A[i][j];
            for (long i = 0; i < rows; i++) A[i][j] -= Q[i][k] * sum;
            R[k][j] = sum;
        }
    }
}

KERNEL(deriche) { /* W H: imgIn; imgOut, and room for two passes */
    const long W = n[0], H = n[1];
    const float alpha = 0.25f, e = expf(-alpha), e2 = expf(-2.0f * alpha);
    const float k = (1.0f - e) * (1.0f - e) / (1.0f + 2.0f * alpha * e - expf(2.0f * alpha));
    const float a1 = k, a2 = k * e * (alpha - 1.0f), a3 = k * e * (alpha + 1.0f), a4 = -k * e2;
    const float b1 = powf(2.0f, -alpha), b2 = -e2;
    const float(*image)[H] = a[0];
    float(*out)[H] = r[0], (*y1)[H] = r[1], (*y2)[H] = r[2];
    PARALLEL
    for (long i = 0; i < W; i++) {
        float p1 = 0, p2 = 0, x1 = 0, q1 = 0, q2 = 0, x2 = 0;
        for (long j = 0; j < H; j++) {
            y1[i][j] = a1 * image[i][j] + a2 * x1 + b1 * p1 + b2 * p2;
            x1 = image[i][j], p2 = p1, p1 = y1[i][j];
        }
        x1 = 0;
        for (long j = H - 1; j >= 0; j--) {
            y2[i][j] = a3 * x1 + a4 * x2 + b1 * q1 + b2 * q2;
            x2 = x1, x1 = image[i][j], q2 = q1, q1 = y2[i][j];
        }
        for (long j = 0; j < H; j++) out[i][j] = y1[i][j] + y2[i][j];
    }
    PARALLEL
    for (long j = 0; j < H; j++) {
        float p1 = 0, p2 = 0, x1 = 0, q1 = 0, q2 = 0, x2 = 0;
        for (long i = 0; i < W; i++) {
            y1[i][j] = a1 * out[i][j] + a2 * x1 + b1 * p1 + b2 * p2;
            x1 = out[i][j], p2 = p1, p1 = y1[i][j];
        }
        x1 = 0;
        for (long i = W - 1; i >= 0; i--) {
            y2[i][j] = a3 * x1 + a4 * x2 + b1 * q1 + b2 * q2;
            x2 = x1, x1 = out[i][j], q2 = q1, q1 = y2[i][j];
        }
    }
    PARALLEL
    for (long i = 0; i < W; i++)
        for (long j = 0; j < H; j++) out[i][j] = y1[i][j] + y2[i][j];
}

KERNEL(floyd_warshall) { /* N: path */
    const long N = *n;
    int(*path)[N] = copied(r[0], a[0], sizeof(int) * N * N);
    for (long k = 0; k < N; k++) {
        PARALLEL
        for (long i = 0; i < N; i++)
            for (long j = 0; j < N; j++) {
                const int through = path[i][k] + path[k][j];
                path[i][j] = path[i][j] < through ? path[i][j] : through;
            }
    }
}

static int larger(int one, int other) { return one >= other ? one : other; }

KERNEL(nussinov) { /* N: seq */
    const long N = *n;
    const signed char *seq = a[0];
    int(*table)[N] = r[0];
    memset(table, 0, sizeof(int) * N * N);
    for (long i = N - 1; i >= 0; i--)
        for (long j = i + 1; j < N; j++) {
            table[i][j] = larger(table[i][j], larger(table[i][j - 1], table[i + 1][j]));
            table[i][j] = larger(table[i][j], table[i + 1][j - 1] + (i < j - 1 && seq[i] + seq[j] == 3));
            for (long k = i + 1; k < j; k++) table[i][j] = larger(table[i][j], table[i][k] + table[k + 1][j]);
        }
}

KERNEL(adi) { /* T N: u; u, and room for v, p, q */
    const long T = n[0], N = n[1];
    double(*u)[N] = copied(r[0], a[0], sizeof(double) * N * N), (*v)[N] = r[1], (*p)[N] = r[2], (*q)[N] = r[3];
    const double ratio = (double)N * N / T, x = -ratio, b = 1.0 + 2.0 * ratio, d = -ratio / 2.0, e = 1.0 + ratio;
    for (long t = 0; t < T; t++) {
        PARALLEL
        for (long i = 1; i < N - 1; i++) {
            v[0][i] = 1.0, p[i][0] = 0.0, q[i][0] = 1.0;
            for (long j = 1; j < N - 1; j++) {
                p[i][j] = -x / (x * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - d * u[j][i + 1] - x * q[i][j - 1]) /
                          (x * p[i][j - 1] + b);
            }
            v[N - 1][i] = 1.0;
            for (long j = N - 2; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        PARALLEL
        for (long i = 1; i < N - 1; i++) {
            u[i][0] = 1.0, p[i][0] = 0.0, q[i][0] = 1.0;
            for (long j = 1; j < N - 1; j++) {
                p[i][j] = -d / (d * p[i][j - 1] + e);
                q[i][j] = (-x * v[i - 1][j] + (1.0 + 2.0 * x) * v[i][j] - x * v[i + 1][j] - d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][N - 1] = 1.0;
            for (long j = N - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}

KERNEL(fdtd_2d) { /* T NX NY: ex ey hz fict */
    const long T = n[0], NX = n[1], NY = n[2], bytes = sizeof(double) * NX * NY;
    double(*ex)[NY] = copied(r[0], a[0], bytes), (*ey)[NY] = copied(r[1], a[1], bytes);
    double(*hz)[NY] = copied(r[2], a[2], bytes);
    const double *fict = a[3];
    for (long t = 0; t < T; t++) {
        for (long j = 0; j < NY; j++) ey[0][j] = fict[t];
        PARALLEL
        for (long i = 1; i < NX; i++)
            for (long j = 0; j < NY; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
        PARALLEL
        for (long i = 0; i < NX; i++)
            for (long j = 1; j < NY; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
        PARALLEL
        for (long i = 0; i < NX - 1; i++)
            for (long j = 0; j < NY - 1; j++)
                hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

static void warmer(long N, const double (*A)[N][N], double (*B)[N][N]) {
    PARALLEL_2
    for (long i = 1; i < N - 1; i++)
        for (long j = 1; j < N - 1; j++)
            for (long k = 1; k < N - 1; k++)
                B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                             0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
                             0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
}

KERNEL(heat_3d) { /* T N: A B; A, and room for B */
    const long T = n[0], N = n[1], bytes = sizeof(double) * N * N * N;
    double(*A)[N][N] = copied(r[0], a[0], bytes), (*B)[N][N] = copied(r[1], a[1], bytes);
    for (long t = 0; t < T; t++) {
        warmer(N, (const double(*)[N][N])A, B);
        warmer(N, (const double(*)[N][N])B, A);
    }
}

KERNEL(jacobi_1d) { /* T N: A B; A, and room for B */
    const long T = n[0], N = n[1], bytes = sizeof(double) * N;
    double *A = copied(r[0], a[0], bytes), *B = copied(r[1], a[1], bytes);
    for (long t = 0; t < T; t++) {
        for (long i = 1; i < N - 1; i++) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (long i = 1; i < N - 1; i++) A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}

static void means(long N, const double (*A)[N], double (*B)[N]) {
    PARALLEL
    for (long i = 1; i < N - 1; i++)
        for (long j = 1; j < N - 1; j++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
}

KERNEL(jacobi_2d) { /* T N: A B; A, and room for B */
    const long T = n[0], N = n[1], bytes = sizeof(double) * N * N;
    double(*A)[N] = copied(r[0], a[0], bytes), (*B)[N] = copied(r[1], a[1], bytes);
    for (long t = 0; t < T; t++) {
        means(N, (const double(*)[N])A, B);
        means(N, (const double(*)[N])B, A);
    }
}

KERNEL(seidel_2d) { /* T N: A */
    const long T = n[0], N = n[1];
    double(*A)[N] = copied(r[0], a[0], sizeof(double) * N * N);
    for (long t = 0; t < T; t++)
        for (long i = 1; i < N - 1; i++)
            for (long j = 1; j < N - 1; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                           A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                          9.0;
}

#include "clock.h"

double timed(void (*kernel)(const long *, void *const *, void *const *), const long *n, void *const *a,
             void *const *r, long count) {
    TIMED(count, kernel(n, a, r));
}
