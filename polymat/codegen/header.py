"""The plain C prototype and the header of a library."""

from __future__ import annotations

from polymat.codegen.c.abi import LIBRARY_MISSING, PROCESSOR_LACKS, SCALAR_SLOT_BYTES, Array, Row, Signature
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CFunction,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Subscript,
    Ternary,
    exported,
)
from polymat.codegen.c.render import prototype
from polymat.codegen.smallcalls import SmallCalls
from polymat.lang.types import type_of_dtype


def public_function(
    signature: Signature, names: Names, worth: float, small: SmallCalls | None = None
) -> CFunction:
    """`NAME(inputs, outputs, sizes, scalars)`, which calls the generic entry with all threads.

    worth: the least work that threads are of use for.  Below it OpenMP is not asked how many there are, which
    takes as long as a product of matrices of 8 x 8.  small: what is run at once where sizes are small.
    """
    parameters = _parameters(signature, names)
    fits = CBinary("==", CCall("_pm_processor_fits", ()), Literal("0"))
    first = If(fits, (Return(Literal(str(PROCESSOR_LACKS))),))
    if small is not None and not small.sizes:
        silent = [Evaluate(Cast("void", Id(names.get("scalar", s.name)))) for s in signature.scalars]
        whole = (first, *silent, *small.branch(names))
        return exported("int", signature.name, parameters, whole)
    arrays = [names.get("array", a.name) for a in (*signature.inputs, *signature.outputs)]
    body: list[Stmt] = [first, *(small.branch(names) if small is not None else ())]
    body.append(Declare("void *", f"_pm_arrays[{max(len(arrays), 1)}]"))
    for k, name in enumerate(arrays):
        pointer = Cast("void *", Cast("uintptr_t", Id(name)))
        body.append(Assign(Subscript(Id("_pm_arrays"), Literal(str(k))), "=", pointer))
    body.append(Declare("ptrdiff_t", f"_pm_sizes[{max(len(signature.sizes), 1)}]"))
    for k, size in enumerate(signature.sizes):
        element = Subscript(Id("_pm_sizes"), Literal(str(k)))
        body.append(Assign(element, "=", Id(names.get("size", size.name))))
    slots = max(len(signature.scalars), 1) * SCALAR_SLOT_BYTES
    body.append(Declare("_Alignas(16) char", f"_pm_scalars[{slots}]"))
    for k, scalar in enumerate(signature.scalars):
        slot = CUnary("&", Subscript(Id("_pm_scalars"), Literal(str(SCALAR_SLOT_BYTES * k))))
        ctype = type_of_dtype(scalar.dtype).c
        target = CUnary("*", Cast(f"{ctype} *", Cast("void *", slot)))
        body.append(Assign(target, "=", Id(names.get("scalar", scalar.name))))
    for name, count in (("_pm_sizes", len(signature.sizes)), ("_pm_scalars", len(signature.scalars))):
        if not count:
            body.append(Evaluate(Cast("void", Id(name))))
    alone = CBinary("<", CCall("_pm_work", (Id("_pm_sizes"),)), Literal(f"{worth!r}"))
    threads = Ternary(alone, Literal("1"), CCall("omp_get_max_threads", ()))
    arguments = (Id("_pm_arrays"), Id("_pm_sizes"), Id("_pm_scalars"), threads)
    body.append(Return(CCall("_pm_entry", arguments)))
    return exported("int", signature.name, parameters, body)


def _parameters(signature: Signature, names: Names) -> list[CParameter]:
    parameters = [
        CParameter(f"const {type_of_dtype(a.dtype).c} *", names.get("array", a.name))
        for a in signature.inputs
    ]
    parameters += [
        CParameter(f"{type_of_dtype(a.dtype).c} *", names.get("array", a.name)) for a in signature.outputs
    ]
    parameters += [CParameter("ptrdiff_t", names.get("size", s.name)) for s in signature.sizes]
    parameters += [
        CParameter(type_of_dtype(s.dtype).c, names.get("scalar", s.name)) for s in signature.scalars
    ]
    return parameters


def header_text(signature: Signature, names: Names) -> str:
    """The text of the header that ships with a library."""
    function = exported("int", signature.name, _parameters(signature, names))
    guard = f"POLYMAT_{signature.name.upper()}_H"
    lines = [
        f"/* {signature.name}: compiled by polymat.",
        "   Arrays are row-major, C-contiguous and do not overlap:",
    ]
    symbols = _symbols(signature, names)
    for word, arrays in (("in ", signature.inputs), ("out", signature.outputs)):
        lines += [f"   {word} {_array_text(a, names, symbols)}" for a in arrays]
    lines += [
        f"   {names.get('array', signature.outputs[o].name)} may be the same array as "
        f"{names.get('array', signature.inputs[i].name)}."
        for i, o in signature.inplace
    ]
    lines += [f"   requires {text}" for text in dict.fromkeys(text for _, text in signature.constraints)]
    lines += [*_needed_libraries(signature), "   Returns 0, or 1 when there is not enough memory,"]
    lines.append(f"   or {PROCESSOR_LACKS}, and does nothing, on a processor that lacks what it needs. */")
    return "\n".join(
        [
            *lines,
            f"#ifndef {guard}",
            f"#define {guard}",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            f"{prototype(function, names.macro_like())};",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "#endif",
            "",
        ]
    )


def _needed_libraries(signature: Signature) -> list[str]:
    """What a C program has to know about libraries that are looked for at the first call."""
    kinds = (
        ("POLYMAT_BLAS", "a BLAS with CBLAS and 32-bit integers", "cblas_"),
        ("POLYMAT_FFT", "FFTW 3 for float64", "fftw_"),
        ("POLYMAT_FFT", "FFTW 3 for float32", "fftwf_"),
    )
    lines: list[str] = []
    for variable, library, prefix in kinds:
        if any(name.startswith(prefix) for name in signature.routines):
            lines.append(
                f"   Needs {library}: in one of the files, separated by colons, that the environment"
            )
            lines.append(f"   variable {variable} names, else under a usual name of a shared library.")
    if lines:
        lines.append(f"   Returns {LIBRARY_MISSING}, and does nothing, when a library is not found.")
    return lines


def _array_text(array: Array, names: Names, symbols: list[str]) -> str:
    extents = [_row_text(row, symbols) for row in array.extents[:: -1 if array.by_columns else 1]]
    note = ": only part of it is written" if array.zero_fill else ""
    if array.by_columns:
        note += ": by columns, its dimensions in the other order"
    if array.pitches:
        own = [
            symbols[each] if each >= 0 else text
            for each, text in zip(array.pitches, extents[1:], strict=True)
        ]
        note += f": part of an array [...][{']['.join(own)}]"
    return f"{array.dtype} {names.get('array', array.name)}[{']['.join(extents)}]{note}"


def _symbols(signature: Signature, names: Names) -> list[str]:
    """The text of every symbol: a size's name, or the formula of a derived one."""
    texts = [names.get("size", size.name) for size in signature.sizes]
    for row in signature.derived:
        numerator = _row_text(row, texts)
        plain = len(row.terms) == 1 and row.terms[0][1] == 1 and not row.const
        texts.append(f"{numerator if plain else f'({numerator})'} / {row.divisor}")
    return texts


def _row_text(row: Row, symbols: list[str]) -> str:
    """A linear form, its divisor aside."""
    text = ""
    for symbol, coefficient in row.terms:
        name = symbols[symbol]
        if abs(coefficient) != 1:
            name = f"{abs(coefficient)}*{f'({name})' if '/' in name else name}"
        text += (f" {'-' if coefficient < 0 else '+'} " if text else "-" * (coefficient < 0)) + name
    if text and row.const:
        return f"{text} {'-' if row.const < 0 else '+'} {abs(row.const)}"
    return text or str(row.const)
