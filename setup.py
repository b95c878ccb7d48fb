"""Build of the two extension modules: the call path, and what users call; the rest is in pyproject.toml."""

from __future__ import annotations

import numpy
from setuptools import Extension, setup

# No table of stubs between the launcher and Python: calls are a tenth shorter.
FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden", "-fno-strict-aliasing", "-fno-plt"]

SURFACE = Extension("polymat._surface", sources=["polymat/_surface.c"], extra_compile_args=FLAGS)

LAUNCH = Extension(
    "polymat.runtime._launch",
    sources=[
        "polymat/runtime/_launch.c",
        "polymat/runtime/_launch_bind.c",
        "polymat/runtime/_launch_memory.c",
        "polymat/runtime/_launch_numpy.c",
        "polymat/runtime/_launch_pitch.c",
        "polymat/runtime/_launch_recycle.c",
        "polymat/runtime/_launch_rows.c",
        "polymat/runtime/_launch_spec.c",
        "polymat/runtime/_launch_threads.c",
    ],
    depends=["polymat/runtime/_launch.h"],
    include_dirs=[numpy.get_include()],
    extra_compile_args=FLAGS,
    libraries=["dl", "pthread"],
)

setup(ext_modules=[SURFACE, LAUNCH])
