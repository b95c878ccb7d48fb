"""What a user asks for as a request: arguments checked, the machine and its libraries added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.cnames import check_export_name
from polymat.graph.arguments import (
    checked_constraints,
    fixed_sizes,
    listed_inputs,
    output_functions,
    strided_inputs,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Parameter
from polymat.lang.function import Function, Input
from polymat.options import DEFAULTS, Options, check_options
from polymat.request import Request
from polymat.runtime.calibration import lacks_parts_of_before
from polymat.runtime.host import HOST
from polymat.runtime.settings import settings
from polymat.runtime.vectors import under_flags


def request_for(
    outputs: Function | Sequence[Function],
    *,
    name: str | None = None,
    inputs: Sequence[Input | Parameter] | None = None,
    estimates: Mapping[Parameter, int] | None = None,
    sizes: Mapping[Parameter, int] | None = None,
    constraints: Iterable[Condition] = (),
    trim: bool = False,
    fortran: Sequence[Input] = (),
    strided: Sequence[Input] = (),
    options: Options = DEFAULTS,
) -> Request:
    """Check arguments of `compile` as far as that needs no graph, and add the machine and its libraries."""
    listed, checked = output_functions(outputs), check_options(options)
    here = HOST.get()
    for kernel in checked.microkernels:
        check_export_name(kernel.name, "microkernel")
    return Request(
        outputs=listed,
        name=check_export_name(name if name is not None else listed[0].name or "pipeline"),
        inputs=tuple(inputs) if isinstance(inputs, list) else inputs,  # a list may change later
        sizes=dict(sizes) if isinstance(sizes, Mapping) else sizes,
        estimates=fixed_sizes(estimates, "estimates"),
        constraints=checked_constraints(constraints),
        trim=trim,
        fortran=listed_inputs(fortran, "fortran"),
        strided=strided_inputs(strided, fortran),
        options=checked,
        machine=under_flags(here.described(), checked.compiler_flags),
        libraries=here.libraries,
    )


def measured(request: Request) -> Request:
    """The request with figures of this machine, which are measured now if that was never done.

    What there was no time for is measured on another day.
    """
    here, known = HOST.get(), request.machine.calibration
    if here.machine or request.options.target != "native":
        return request
    if (known is not None and not lacks_parts_of_before(known)) or settings().calibrate_mode == "off":
        return request
    # Imported where nobody has measured.
    from polymat.measuring.firstcompile import measure_first, measure_rest

    if not (measure_first() if known is None else measure_rest()):
        return request
    return replace(request, machine=under_flags(here.described(), request.options.compiler_flags))
