"""A cache that is simulated access by access: fully associative, the least recently used element leaves."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable


def misses(accesses: Iterable[tuple[str, Hashable]], capacity: int) -> Counter[str]:
    """How many accesses by array a cache of so many elements does not have."""
    found: Counter[str] = Counter()
    cache: OrderedDict[tuple[str, Hashable], None] = OrderedDict()
    for access in accesses:
        if access in cache:
            cache.move_to_end(access)
            continue
        found[access[0]] += 1
        cache[access] = None
        if len(cache) > capacity:
            cache.popitem(last=False)
    return found
