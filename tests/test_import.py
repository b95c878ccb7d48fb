from __future__ import annotations

import builtins
import pydoc
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
    assert ran.stdout == "[]\npolymat polymat.codegen.report False\n"


@pytest.mark.parametrize("looks", [True, False])
def test_importing_leaves_the_garbage_collector_as_it_was(looks: bool) -> None:
    script = f"""
import gc
import polymat
from polymat.compiling import _driver
if not {looks}:
    gc.disable()
during = []
gc.callbacks.append(lambda phase, info: during.append(phase))
_driver()
print(gc.isenabled(), len(during))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    enabled, passes = ran.stdout.split()
    assert enabled == str(looks)
    assert int(passes) <= (2 if looks else 0)  # the first one behind it, which begins and ends


@pytest.mark.parametrize("freezes", [True, False])
def test_what_importing_makes_is_old(freezes: bool) -> None:
    """The first compilation would look through it; but what the user froze stays frozen."""
    script = f"""
import gc
import polymat
from polymat.compiling import _driver
if {freezes}:
    gc.freeze()
frozen = gc.get_freeze_count()
_driver()
young = sum(len(gc.get_objects(generation=generation)) for generation in (0, 1))
print(gc.get_freeze_count() > frozen // 2, young)  # some are freed
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    stays, young = ran.stdout.split()
    assert stays == str(freezes)
    assert freezes or int(young) < 1000


def test_garbage_is_made_old_by_importing_alone() -> None:
    """Who compiles one program after the other would never be rid of what the program dropped."""
    script = """
import gc
from polymat.compiling import _driver
_driver()
class Circle:
    pass
circle = Circle()
circle.itself = circle
_driver()
print(any(each is circle for each in gc.get_objects(generation=2)))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_what_is_imported_later_is_listed() -> None:
    assert set(polymat.__all__) <= set(dir(polymat))


def test_a_name_that_is_none() -> None:
    with pytest.raises(AttributeError, match="module 'polymat' has no attribute 'compiled'"):
        getattr(polymat, "compiled")  # noqa: B009 (mypy knows that there is none)


def test_a_star_leaves_pythons_own_functions() -> None:
    script = "from polymat import *\nprint(eval(compile('1 + 1', '', 'eval')), Matrix.__name__)\n"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "2 Matrix\n"
    assert not set(polymat.__all__) & set(dir(builtins))
    assert "compile" in dir(polymat)


def test_help_begins_with_what_users_call() -> None:
    text = pydoc.render_doc(
        polymat,
        renderer=pydoc.plaintext,  # type: ignore[attr-defined]
    )
    assert text.index("compile(outputs, ...)") < text.index("PACKAGE CONTENTS")
    assert text.index("load(path)") < text.index("PACKAGE CONTENTS")
