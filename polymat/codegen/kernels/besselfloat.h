/* The modified Bessel function I0 of floats. */
#pragma once

#include "bessel.h"

static inline float _pm_i0_f32(float value)
{
    return (float)_pm_i0_f64(value);
}
