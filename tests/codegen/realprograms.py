"""Programs of the benchmarks by name, as arguments of `compiled_levels`: what users write, at real sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from benchmarks import images, npbench
from benchmarks.cases import Case
from benchmarks.polybench import find_kernel
from benchmarks.polybench.kernel import Description, Sizes
from benchmarks.problems import OTHERS
from benchmarks.sections import SECTIONS

Asked = Mapping[str, Any]


def _asked(described: Description, sizes: Sizes) -> Asked:
    found = {size: sizes[size.name] for size in described.sizes if size.name in sizes}
    return {
        "outputs": [*described.outputs],
        "inputs": [*described.inputs],
        "constraints": described.constraints,
        "estimates": found or None,
    }


def _kernel(name: str) -> Asked:
    kernel = find_kernel(name)
    return _asked(next(iter(kernel.builds.values()))(), kernel.sizes["LARGE"])


def _image(name: str) -> Asked:
    program = images.find_program(name)
    return _asked(program.build(), program.sizes["PAPER"])


def _npbench(name: str) -> Asked:
    program = npbench.find_program(name)
    return _asked(program.build(), program.sizes["PAPER"])


@cache
def _case(section: str, begins: str) -> Asked:
    """A case of a section, all of which are made, with their arrays, when they are listed."""
    case: Case = next(each for each in SECTIONS[section].cases(True) if each.name.startswith(begins))
    return _asked(OTHERS[case.task.problem](case.task), case.task.values.get("sizes", {}))


def _named(make: Callable[[str], Asked], *names: str) -> dict[str, Callable[[], Asked]]:
    return {name: lambda name=name: make(name) for name in names}  # type: ignore[misc]


PROGRAMS: Mapping[str, Callable[[], Asked]] = {
    **_named(_kernel, "atax", "gemver", "gesummv", "lu", "nussinov", "fdtd-2d", "heat-3d"),
    **_named(_kernel, "jacobi-2d", "seidel-2d"),
    **_named(_image, "unsharp", "harris-corner", "bilateral-grid", "camera", "interpolate", "pyramid-blend"),
    **_named(_npbench, "mandelbrot1", "cavity_flow", "channel_flow", "azimint_hist", "conv2d_bias"),
    **_named(_npbench, "hdiff", "scattering_self_energies", "lenet", "resnet", "contour_integral"),
    "csr": lambda: _case("data", "csr-random"),
    "softmax": lambda: _case("rows", "softmax 8"),
    "attention": lambda: _case("rows", "attention"),
    "kalman-filter": lambda: _case("data", "kalman-filter"),
    "stencils": lambda: _case("stencils", "harris"),
    "unwanted-spectral": lambda: _case("dsp", "unwanted-spectral"),
}
