"""By how much predictions have to differ before anything is changed that a user wrote, or decided first."""

from __future__ import annotations

CLEARLY = 0.9  # of the predicted time of what is there: an alternative takes less than that, or is left alone
