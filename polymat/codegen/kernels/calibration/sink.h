/* Where results of measurements go. */
#pragma once

/* Results go here so that nothing is computed for nothing. */
volatile double pm_sink;
