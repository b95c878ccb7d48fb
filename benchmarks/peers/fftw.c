/* Complex Fourier transforms by an FFTW that is loaded at run time, called from C. */
#include <dlfcn.h>

#include "clock.h"

typedef double complex_t[2];
static void *(*plan_1d)(int, complex_t *, complex_t *, int, unsigned);
static void (*execute)(void *);

/* The text of what went wrong, or null. */
const char *open_fftw(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    *(void **)&plan_1d = dlsym(library, "fftw_plan_dft_1d");
    *(void **)&execute = dlsym(library, "fftw_execute");
    return plan_1d && execute ? 0 : "a routine is missing";
}

/* A forward transform; planning with FFTW_MEASURE (0) writes over both arrays, FFTW_ESTIMATE (64) does not. */
void *plan(long n, complex_t *in, complex_t *out, unsigned rigour) { return plan_1d((int)n, in, out, -1, rigour); }

double timed(void *planned, long count) { TIMED(count, execute(planned)); }
