from __future__ import annotations

import subprocess
import sys

import pytest

import polymat


def test_importing_needs_no_compiler() -> None:
    script = (
        "import sys, polymat\n"
        "print([name for name in ('islpy', 'networkx', 'polymat.driver') if name in sys.modules])\n"
        "from polymat import compile, Report\n"
        "print(compile.__module__, Report.__module__, 'polymat.driver' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\npolymat.driver polymat.codegen.report True\n"


def test_what_is_imported_later_is_listed() -> None:
    assert set(polymat.__all__) <= set(dir(polymat))


def test_a_name_that_is_none() -> None:
    with pytest.raises(AttributeError, match="module 'polymat' has no attribute 'compiled'"):
        getattr(polymat, "compiled")  # noqa: B009 (mypy knows that there is none)
