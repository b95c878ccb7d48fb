"""Names of the package that are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymat.quickimport import imported_quickly
from polymat.surface import surfaced

_WHERE = {name: f"polymat.codegen.{name.lower()}" for name in ("Profile", "Report")}
_WHERE |= dict.fromkeys(("tune", "Tuned"), "polymat.search.tuning") | {"compile": "polymat.compiling"}


def on_first_use(package: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package with these names."""

    def found(name: str) -> Any:
        if name == "__version__":
            return imported_quickly("polymat.runtime.release").release()
        if name not in _WHERE:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        value = getattr(imported_quickly(_WHERE[name]), name)
        whole = value if isinstance(value, type) else surfaced(value, package["__name__"])
        return package.setdefault(name, whole)

    return found, lambda: sorted({*package, *package["__all__"], *_WHERE})
