"""What steps of recurrences take beside their loops: each is a call within the library."""

from __future__ import annotations

STEP_SECONDS = 5e-8  # beside a nest of all steps, and beside points that take them by themselves
CUT_STEP_SECONDS = 2e-7  # beside slices or blocks, with steps of their own, which take memory
