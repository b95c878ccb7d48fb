/* NPBench programs in plain loops; results go to arrays of their own.
   n: sizes in the order of the program's table; a: inputs, and the scalars; r: results. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(name) void name(const long *n, void *const *a, void *const *r)
#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for")
#else
#define PARALLEL
#endif
#define TURN 6.283185307179586477

typedef double _Complex number;

KERNEL(stockham_fft) { /* N: x; y.  A pass for each factor of two, from one array to the other. */
    const long N = *n;
    long passes = 0;
    while (1L << passes < N) passes++;
    number *room = malloc(sizeof(number) * N), *from = passes & 1 ? room : r[0], *to = passes & 1 ? r[0] : room;
    memcpy(from, a[0], sizeof(number) * N);
    for (long before = 1; before < N; before *= 2) {
        const long behind = N / 2 / before;
        PARALLEL
        for (long k = 0; k < before; k++) {
            const number turned = cexp(-I * (TURN / 2) * k / before);
            for (long j = 0; j < behind; j++) {
                const number even = from[k * 2 * behind + j], odd = turned * from[(k * 2 + 1) * behind + j];
                to[k * behind + j] = even + odd;
                to[(k + before) * behind + j] = even - odd;
            }
        }
        number *other = from;
        from = to, to = other;
    }
    free(room);
}

static void swapped(number *a, number *b, long count) {
    for (long j = 0; j < count; j++) {
        const number kept = a[j];
        a[j] = b[j], b[j] = kept;
    }
}

static long largest(long R, long C, number (*A)[C], long k) {
    long at = k;
    for (long i = k + 1; i < R; i++)
        if (fabs(creal(A[i][k])) + fabs(cimag(A[i][k])) > fabs(creal(A[at][k])) + fabs(cimag(A[at][k]))) at = i;
    return at;
}

static void solve(long R, long C, number (*A)[C]) { /* the columns from R on become the solutions */
    for (long k = 0; k < R; k++) {
        const long pivot = largest(R, C, A, k);
        if (pivot != k) swapped(A[k], A[pivot], C);
        const number scale = 1.0 / A[k][k];
        for (long j = k; j < C; j++) A[k][j] *= scale;
        for (long i = 0; i < R; i++) {
            const number factor = A[i][k];
            if (i != k)
                for (long j = k; j < C; j++) A[i][j] -= factor * A[k][j];
        }
    }
}

KERNEL(contour_integral) { /* R M Z: H point Y; P0 P1 */
    const long R = n[0], M = n[1], Z = n[2], C = R + M;
    const number(*H)[R][R] = a[0], *point = a[1], (*Y)[M] = a[2];
    number(*P0)[M] = r[0], (*P1)[M] = r[1];
    number(*all)[R][C] = malloc(sizeof(number) * Z * R * C);
    PARALLEL
    for (long z = 0; z < Z; z++) {
        for (long i = 0; i < R; i++) {
            for (long j = 0; j < R; j++)
                all[z][i][j] = point[z] * H[0][i][j] + H[1][i][j] + H[2][i][j] / point[z];
            memcpy(&all[z][i][R], Y[i], sizeof(number) * M);
        }
        solve(R, C, all[z]);
    }
    PARALLEL
    for (long i = 0; i < R; i++)
        for (long m = 0; m < M; m++) {
            number first = 0, second = 0;
            for (long z = 0; z < Z; z++) {
                const number x = cabs(point[z]) < 1 ? -all[z][i][R + m] : all[z][i][R + m];
                first += x, second += point[z] * x;
            }
            P0[i][m] = first, P1[i][m] = second;
        }
    free(all);
}

typedef struct {
    long Y, X;
    double dx, dy, dt, density, viscosity, force;
} Channel;

#define FIELD(f) double(*f)[c.X]
#define GIVEN(f) const double(*f)[c.X]
#define AROUND const long w = x ? x - 1 : c.X - 1, e = x < c.X - 1 ? x + 1 : 0

static void sources(Channel c, GIVEN(u), GIVEN(v), FIELD(b)) {
    PARALLEL
    for (long y = 1; y < c.Y - 1; y++)
        for (long x = 0; x < c.X; x++) {
            AROUND;
            const double ux = (u[y][e] - u[y][w]) / (2 * c.dx), uy = (u[y + 1][x] - u[y - 1][x]) / (2 * c.dy);
            const double vx = (v[y][e] - v[y][w]) / (2 * c.dx), vy = (v[y + 1][x] - v[y - 1][x]) / (2 * c.dy);
            b[y][x] = c.density * ((ux + vy) / c.dt - ux * ux - 2 * uy * vx - vy * vy);
        }
}

static void pressures(Channel c, GIVEN(p), GIVEN(b), FIELD(q)) {
    const double dx2 = c.dx * c.dx, dy2 = c.dy * c.dy;
    PARALLEL
    for (long y = 1; y < c.Y - 1; y++)
        for (long x = 0; x < c.X; x++) {
            AROUND;
            const double beside = (p[y][e] + p[y][w]) * dy2 + (p[y + 1][x] + p[y - 1][x]) * dx2;
            q[y][x] = (beside - dx2 * dy2 * b[y][x]) / (2 * (dx2 + dy2));
        }
    memcpy(q[0], q[1], sizeof(double) * c.X);
    memcpy(q[c.Y - 1], q[c.Y - 2], sizeof(double) * c.X);
}

static double after(Channel c, GIVEN(f), double u, double v, double slope, long y, long x) {
    AROUND;
    const double carried = u * c.dt / c.dx * (f[y][x] - f[y][w]) + v * c.dt / c.dy * (f[y][x] - f[y - 1][x]);
    const double spread = c.dt / (c.dx * c.dx) * (f[y][e] - 2 * f[y][x] + f[y][w]) +
                          c.dt / (c.dy * c.dy) * (f[y + 1][x] - 2 * f[y][x] + f[y - 1][x]);
    return f[y][x] - carried - c.dt / c.density * slope + c.viscosity * spread;
}

static void velocities(Channel c, GIVEN(u), GIVEN(v), GIVEN(p), FIELD(s), FIELD(t)) {
    PARALLEL
    for (long y = 1; y < c.Y - 1; y++)
        for (long x = 0; x < c.X; x++) {
            AROUND;
            const double along = (p[y][e] - p[y][w]) / (2 * c.dx), up = (p[y + 1][x] - p[y - 1][x]) / (2 * c.dy);
            s[y][x] = after(c, u, u[y][x], v[y][x], along, y, x) + c.force * c.dt;
            t[y][x] = after(c, v, u[y][x], v[y][x], up, y, x);
        }
}

KERNEL(channel_flow) { /* Y X T P: u v p, and density viscosity force; u v p */
    const double *scalars = a[3];
    const Channel c = {n[0], n[1], 2.0 / (n[1] - 1), 2.0 / (n[0] - 1), 0.1 / ((n[1] - 1) * (n[0] - 1)),
                       scalars[0], scalars[1], scalars[2]};
    const long count = c.Y * c.X, bytes = sizeof(double) * count;
    double *room = calloc(7 * count, sizeof(double)), *field[6];
    FIELD(b) = (void *)(room + 6 * count);
    for (long k = 0; k < 6; k++) field[k] = room + k * count;
    for (long k = 0; k < 3; k++) memcpy(field[2 * k], a[k], bytes);
    for (long t = 0; t < n[2]; t++) {
        sources(c, (const void *)field[0], (const void *)field[2], b);
        for (long q = 0; q < n[3]; q++) {
            pressures(c, (const void *)field[4], (const void *)b, (void *)field[5]);
            double *other = field[4];
            field[4] = field[5], field[5] = other;
        }
        velocities(c, (const void *)field[0], (const void *)field[2], (const void *)field[4], (void *)field[1],
                   (void *)field[3]);
        for (long k = 0; k < 4; k += 2) {
            double *other = field[k];
            field[k] = field[k + 1], field[k + 1] = other;
            memset(field[k], 0, sizeof(double) * c.X); /* at rest at the walls, whatever was given */
            memset(field[k] + count - c.X, 0, sizeof(double) * c.X);
        }
    }
    for (long k = 0; k < 3; k++) memcpy(r[k], field[2 * k], bytes);
    free(room);
}

#include "clock.h"

double timed(void (*kernel)(const long *, void *const *, void *const *), const long *n, void *const *a,
             void *const *r, long count) {
    TIMED(count, kernel(n, a, r));
}
