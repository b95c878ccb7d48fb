"""By how much predictions have to differ before something is changed, or is not even measured."""

from __future__ import annotations

CLEARLY = 0.9  # of the predicted time of what a user wrote, or was decided first: less is taken instead
NEAR = 2.0  # times the least prediction: other ways up to there are measured
NEAR_CALLS = 10.0  # and those where a library computes something else


def worth_measuring(*, same_calls: bool) -> float:
    """Times the least prediction up to which another way is measured.

    same_calls: libraries compute the same in it; of what they take predictions are less certain.
    """
    return NEAR if same_calls else NEAR_CALLS
