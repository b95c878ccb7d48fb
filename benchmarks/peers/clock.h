/* The seconds that so many executions of a statement take. */
#include <time.h>
#define TIMED(count, statement)                                                                        \
    do {                                                                                               \
        struct timespec begin, end;                                                                    \
        clock_gettime(CLOCK_MONOTONIC, &begin);                                                        \
        for (long _n = 0; _n < (count); _n++) statement;                                               \
        clock_gettime(CLOCK_MONOTONIC, &end);                                                          \
        return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);     \
    } while (0)
