/* The table of NumPy's functions: in a file of its own, so that no part of the launcher needs one that needs it. */
#define POLYMAT_LAUNCH_NUMPY
#include "_launch.h"

int numpy_ready(void)
{
    import_array1(-1);
    return 0;
}
