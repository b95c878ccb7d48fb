/* Products by a BLAS that is loaded at run time, each by the routine that was made for it, called from C.
   n: sizes in the order of the kernel's table; a: inputs; r: results, and room for what lies between. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"

#define ALPHA 1.5
#define BETA 1.2
enum { ROW = 101, PLAIN = 111, TRANSPOSED = 112, UPPER = 121, LOWER = 122, UNIT = 132, LEFT = 141 };

static void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                     int);
static void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
static void (*dsymm)(int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
static void (*dsyrk)(int, int, int, int, int, double, const double *, int, double, double *, int);
static void (*dsyr2k)(int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
static void (*dtrmm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);

/* The text of what went wrong, or null. */
const char *open_blas(const char *path, const char *prefix) {
    static const char *const names[] = {"dgemm", "sgemm", "dsymm", "dsyrk", "dsyr2k", "dtrmm"};
    void **const places[] = {(void **)&dgemm, (void **)&sgemm,  (void **)&dsymm,
                             (void **)&dsyrk, (void **)&dsyr2k, (void **)&dtrmm};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    for (int i = 0; i < 6; i++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "%scblas_%s", prefix, names[i]);
        *places[i] = dlsym(library, symbol);
        if (!*places[i]) return "a routine is missing";
    }
    return 0;
}

#define KERNEL(name) void name(const long *n, double *const *a, double *const *r)
#define COPY(count, from, to) memcpy(to, from, sizeof(double) * (count))

/* R = alpha A B + beta R, A m x k, B k x p. */
static void product(long m, long p, long k, double alpha, const double *A, const double *B, double beta, double *R) {
    dgemm(ROW, PLAIN, PLAIN, m, p, k, alpha, A, k, B, p, beta, R, p);
}

KERNEL(gemm) { /* NI NJ NK: A B C */
    COPY(n[0] * n[1], a[2], r[0]);
    product(n[0], n[1], n[2], ALPHA, a[0], a[1], BETA, r[0]);
}

KERNEL(two_mm) { /* NI NJ NK NL: A B C D */
    product(n[0], n[1], n[2], ALPHA, a[0], a[1], 0.0, r[1]);
    COPY(n[0] * n[3], a[3], r[0]);
    product(n[0], n[3], n[1], 1.0, r[1], a[2], BETA, r[0]);
}

KERNEL(three_mm) { /* NI NJ NK NL NM: A B C D */
    product(n[0], n[1], n[2], 1.0, a[0], a[1], 0.0, r[1]);
    product(n[1], n[3], n[4], 1.0, a[2], a[3], 0.0, r[2]);
    product(n[0], n[3], n[1], 1.0, r[1], r[2], 0.0, r[0]);
}

KERNEL(symm) { /* M N: A B C */
    COPY(n[0] * n[1], a[2], r[0]);
    dsymm(ROW, LEFT, LOWER, n[0], n[1], ALPHA, a[0], n[0], a[1], n[1], BETA, r[0], n[1]);
}

KERNEL(syrk) { /* M N: A C */
    COPY(n[1] * n[1], a[1], r[0]);
    dsyrk(ROW, LOWER, PLAIN, n[1], n[0], ALPHA, a[0], n[0], BETA, r[0], n[1]);
}

KERNEL(syr2k) { /* M N: A B C */
    COPY(n[1] * n[1], a[2], r[0]);
    dsyr2k(ROW, LOWER, PLAIN, n[1], n[0], ALPHA, a[0], n[0], a[1], n[0], BETA, r[0], n[1]);
}

KERNEL(trmm) { /* M N: A B */
    COPY(n[0] * n[1], a[1], r[0]);
    dtrmm(ROW, LEFT, LOWER, TRANSPOSED, UNIT, n[0], n[1], ALPHA, a[0], n[0], r[0], n[1]);
}

KERNEL(doitgen) { /* NR NQ NP: A C4 */
    product(n[0] * n[1], n[2], n[2], 1.0, a[0], a[1], 0.0, r[0]);
}

KERNEL(product64) { /* M N K: A B */
    product(n[0], n[1], n[2], 1.0, a[0], a[1], 0.0, r[0]);
}

KERNEL(product32) { /* M N K: A B */
    sgemm(ROW, PLAIN, PLAIN, n[0], n[1], n[2], 1.0f, (const float *)a[0], n[2], (const float *)a[1], n[1], 0.0f,
          (float *)r[0], n[1]);
}

KERNEL(product32_scaled) { /* M N K: A B C */
    memcpy(r[0], a[2], sizeof(float) * n[0] * n[1]);
    sgemm(ROW, PLAIN, PLAIN, n[0], n[1], n[2], (float)ALPHA, (const float *)a[0], n[2], (const float *)a[1], n[1],
          (float)BETA, (float *)r[0], n[1]);
}

double timed(void (*kernel)(const long *, double *const *, double *const *), const long *n, double *const *a,
             double *const *r, long count) {
    TIMED(count, kernel(n, a, r));
}
