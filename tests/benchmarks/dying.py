"""A worker that audits nothing, and ends in the middle of mvt."""

from __future__ import annotations

import os
import sys
from typing import Any

from benchmarks.task import Prepared, Task
from polymat.audit.audited import Audited, TimedPlan

FOUND = Audited(("y",), TimedPlan("loops", 1e-3, 2e-3), ())


def prepare(task: Task) -> Prepared:
    """The same audit of every task but one."""

    def call() -> Any:
        if task.problem == "mvt":
            print("polymat.audit: mvt: x1 as tiles of 8 along i", file=sys.stderr, flush=True)
            os._exit(7)
        return (FOUND,)

    return Prepared(call)
