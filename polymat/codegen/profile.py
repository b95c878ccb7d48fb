"""The result of `Compiled.profile()`: the seconds of each group of a call, beside what was predicted."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from polymat.dataclass import dataclass
from polymat.errors import counted

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class GroupProfile:
    """One group of a call.

    seconds: measured.  predicted: seconds, for the same sizes.  bytes: that have to move between the group
    and the level of memory where arrays live.  flops: operations of the definition; None where it is computed
    in another way, as transforms are.  kept: computed by the first call alone, and not measured.
    """

    stages: tuple[str, ...]
    seconds: float
    predicted: float
    bytes: float
    flops: float | None
    kept: bool = False

    @property
    def rate(self) -> float | None:
        """Operations a second."""
        return None if not self.flops or self.kept or not self.seconds else self.flops / self.seconds

    def __str__(self) -> str:
        name = " + ".join(self.stages)
        if self.kept:
            return f"{name}: computed by the first call alone, and kept"
        speed = "" if self.rate is None else f", {self.rate / 1e9:.3g} GFLOP/s"
        moved = "" if not self.seconds else f", {self.bytes / self.seconds / 1e9:.3g} GB/s"
        text = f"{name}: {seconds_text(self.seconds)}, predicted {seconds_text(self.predicted)}"
        return f"{text}{speed}{moved}"


@dataclass(frozen=True, slots=True)
class Profile:
    """The seconds of each group of a call, from a second build with a clock between groups.

    sizes: of the call.  threads: that shared the work.  calls: that were measured.
    """

    name: str
    groups: tuple[GroupProfile, ...]
    sizes: Mapping[str, int]
    threads: int
    calls: int

    @property
    def seconds(self) -> float:
        """Of all groups that every call computes."""
        return sum(group.seconds for group in self.groups if not group.kept)

    @property
    def predicted(self) -> float:
        """Seconds of the same groups, as predicted for these sizes."""
        return sum(group.predicted for group in self.groups if not group.kept)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size}" for name, size in self.sizes.items())
        threads = counted(self.threads, "thread")
        head = f"{self.name}{f' at {sizes}' if sizes else ''} on {threads}: {seconds_text(self.seconds)}"
        head += f", predicted {seconds_text(self.predicted)}"
        return "\n".join([head, *(f"  {group}" for group in self.groups)])

    def __repr__(self) -> str:
        return str(self)


def seconds_text(seconds: float) -> str:
    """Three digits and a unit."""
    if seconds == inf:
        return "unknown"
    scale, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"
