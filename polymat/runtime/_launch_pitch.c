/* Inputs that are parts of larger arrays. */
#include "_launch.h"

static void tight(const ArraySpec *spec, PyArrayObject *array, npy_intp *pitches)
{
    for (Py_ssize_t d = 1; d < spec->rank; d++)
        pitches[d - 1] = PyArray_DIM(array, (int)d);
}

/* The pitch of each dimension but the first: how many steps along it one along the dimension before takes.
   0 where the strides are not those of a part of a C-contiguous array. */
static int pitches_of(const ArraySpec *spec, PyArrayObject *array, ptrdiff_t limit, npy_intp *pitches)
{
    const npy_intp *dims = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    npy_intp step = PyArray_ITEMSIZE(array);
    const int last = (int)spec->rank - 1;
    if (!PyArray_ISALIGNED(array))
        return 0;
    if (PyArray_IS_C_CONTIGUOUS(array)) {
        tight(spec, array, pitches);
        return 1;
    }
    if (dims[last] > 1 && strides[last] != step)
        return 0;
    for (int d = last; d > 0; d--) { /* not contiguous: there is no extent of 0 */
        npy_intp pitch = dims[d - 1] > 1 ? strides[d - 1] / step : dims[d];
        if (pitch < dims[d] || pitch > limit || (dims[d - 1] > 1 && strides[d - 1] != pitch * step))
            return 0;
        if (spec->pitches[d - 1] < 0 && pitch != dims[d])
            return 0;
        pitches[d - 1] = pitch;
        step *= pitch;
    }
    return 1;
}

int lies_in_rows(const ArraySpec *spec, PyArrayObject *array, ptrdiff_t limit)
{
    npy_intp pitches[MAX_RANK];
    return pitches_of(spec, array, limit, pitches);
}

void find_pitches(const Launcher *launcher, Frame *frame, Py_ssize_t i)
{
    const ArraySpec *spec = &launcher->arrays[i];
    npy_intp pitches[MAX_RANK];
    if (frame->keep[i] != NULL || !pitches_of(spec, frame->arrays[i], launcher->limit, pitches))
        tight(spec, frame->arrays[i], pitches);
    for (Py_ssize_t d = 1; d < spec->rank; d++)
        if (spec->pitches[d - 1] >= 0)
            frame->symbols[spec->pitches[d - 1]] = pitches[d - 1];
}
