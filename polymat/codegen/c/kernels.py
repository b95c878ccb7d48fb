"""C written by hand: the headers in `polymat/codegen/kernels`, as texts with the macros that they take.

A header is C with ordinary macros, which a compiler and clang-format understand alone: `T` for the type of an
element, `NAME(pack)` for the function of that type, `LANES` and others.  It begins with a comment, and a line
of that for each macro that it takes:

    takes T           the type of an element
    takes NAME(name)  functions of that type
    takes LANES=4     elements of a vector

with a value, or several after each other as `4|8`, with which the tests compile the header alone; one for
float and one for double are `1.0f / 1.0`.  Then come `#pragma once` and the headers that it uses: those of
the system, which stand at the head of a program, and other kernels, which the program has before it.  Only
what follows goes into a program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from polymat.codegen.c.elements import C_TYPES
from polymat.dataclass import dataclass
from polymat.errors import InternalError

FOLDER = Path(__file__).parent.parent / "kernels"
OF_NAME = "(name)"
_PIECE = 1 << 18  # bytes, more than any header has
_TAKES = re.compile(r"   takes (?<=^   takes )(\w+)(\([\w, ]*\))?(?:=(.*?))?(?:  .*)?$", re.MULTILINE)
_INCLUDE = re.compile(r'#include (?<=^#include )([<"])(.*)[>"]\n', re.MULTILINE)
_DEFINED = re.compile(r"^(?![/ ]).*\bNAME\((\w+)\)\(", re.MULTILINE)
_WORD = re.compile(r"\w+")
_HEAD = re.compile(r'\A/\*.*?\*/\n+(?:#pragma once\n|#include ["<][^\n]*\n|\n)*', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A header: head is its comment and what it includes, text what goes into a program."""

    name: str
    head: str
    text: str

    @property
    def takes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The macros that it takes, with their parameters, each with the values it is compiled alone with."""
        found = [
            (f"{macro}{parameters or ''}", value) for macro, parameters, value in _TAKES.findall(self.head)
        ]
        return tuple((macro, tuple(filter(None, value.split("|")))) for macro, value in found)

    @property
    def system(self) -> tuple[str, ...]:
        """The headers of the system that it uses."""
        return tuple(file for kind, file in _INCLUDE.findall(self.head) if kind == "<")

    @property
    def kernels(self) -> tuple[str, ...]:
        """The other kernels that it uses."""
        return tuple(file.removesuffix(".h") for kind, file in _INCLUDE.findall(self.head) if kind != "<")


# Files of the package do not change.
@cache
def kernel(name: str) -> Kernel:
    """The header of this name, read once."""
    text = _contents(f"{FOLDER}/{name}.h")
    head = _HEAD.match(text)
    if head is None:
        raise InternalError(f"bug in polymat: {name}.h does not begin with a comment")
    return Kernel(name, head[0], text[head.end() :])


def _contents(path: str) -> str:
    """The text of a file, asked of the system in as few calls as can be: a product reads forty files."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(descriptor, _PIECE), b"")).decode()
    finally:
        os.close(descriptor)


def element_macros(suffix: str) -> dict[str, object]:
    """The macros that depend on a floating-point type alone, by its suffix, "f64" say.

    T: the type.  NAME(pack): `_pm_pack_f64`, and CONSTANT(FAR): `_PM_FAR_f64`.  MATH(floor): `floor` or
    `floorf`, and so BUILTIN(fma).
    """
    tail = "f" if suffix == "f32" else ""
    return {
        "T": C_TYPES[suffix],
        "NAME(name)": f"_pm_##name##_{suffix}",
        "CONSTANT(name)": f"_PM_##name##_{suffix}",
        "MATH(name)": f"name##{tail}" if tail else "name",
        "BUILTIN(name)": f"__builtin_##name##{tail}" if tail else "__builtin_##name",
    }


# Files of the package do not change.
@cache
def kernel_functions(name: str) -> tuple[str, ...]:
    """The functions `NAME(...)` that a header defines, in order."""
    return tuple(found[1] for block in _blocks(kernel(name).text) if (found := _DEFINED.search(block)))


def kernel_text(
    name: str,
    suffix: str = "",
    macros: Mapping[str, object] | None = None,
    *,
    only: Collection[str] | None = None,
    **more: object,
) -> str:
    """The C text of a header, between definitions of the macros that it uses and their ends.

    suffix: of a floating-point type, which defines those of `element_macros` that the header takes.  macros,
    more: the others, "NAME(name)" say, and LANES=4; several lines are one definition.  Those that make a name
    are written out: a program has the names that the linker knows.  only: functions `NAME(...)`, those of the
    header that are wanted.
    """
    found = kernel(name)
    takes = dict(found.takes)
    given = {macro: value for macro, value in _of_type(suffix).items() if macro in takes}
    given |= {**(macros or {}), **more}
    if given.keys() != takes.keys():
        raise InternalError(f"bug in polymat: {name}.h takes {takes}, and was given {tuple(given)}")
    text = found.text if only is None else _only(found.text, only)
    for macro, value in given.items():
        if macro.endswith(OF_NAME):
            text = named(text, macro.removesuffix(OF_NAME), str(value))
    used = frozenset(_WORD.findall(" ".join([text, *map(str, given.values())])))
    plain = {
        macro: value
        for macro, value in given.items()
        if not macro.endswith(OF_NAME) and macro.partition("(")[0] in used
    }
    defined = "".join(f"#define {_definition(macro, value)}\n" for macro, value in plain.items())
    ended = "".join(f"#undef {macro.partition('(')[0]}\n" for macro in plain)
    return f"{defined}{text}{ended}"


def statements(lines: Iterable[str]) -> str:
    """Statements as the value of a macro, one a line; the last semicolon is where the macro is used."""
    return ";\n    ".join(lines)


def kernel_headers(*names: str) -> frozenset[str]:
    """The system's headers that these kernels use."""
    return frozenset(header for name in names for header in kernel(name).system)


def _blocks(text: str) -> list[str]:
    """Definitions with the comments before them."""
    return re.split(r"\n\n(?=\S)", text.rstrip("\n"))


def _only(text: str, wanted: Collection[str]) -> str:
    named = [(_DEFINED.search(block), block) for block in _blocks(text)]
    return "\n\n".join(block for name, block in named if name is not None and name[1] in wanted) + "\n"


def _of_type(suffix: str) -> dict[str, object]:
    return element_macros(suffix) if suffix else {}


def named(text: str, macro: str, made: str) -> str:
    """A text with the names that a macro makes, `_pm_##name##_f64` say, in place of its uses."""
    if f"{macro}(" not in text:
        return text
    before, after = made.replace("##", "").split("name", 1)
    pieces = re.split(rf"{macro}(?<!\w{macro})\((\w+)\)", text)  # letters first: quicker
    pieces[1::2] = [f"{before}{name}{after}" for name in pieces[1::2]]
    return "".join(pieces)


def has_word(text: str, word: str) -> bool:
    """Whether a text has a word, not as a part of a longer one."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_is_letter(text[at - 1 : at]) or _is_letter(text[end : end + 1])):
            return True
        at = text.find(word, end)
    return False


def _is_letter(character: str) -> bool:
    return character == "_" or character.isalnum()


def _definition(macro: str, value: object) -> str:
    return f"{macro} {str(value).strip()}".replace("\n", " \\\n").rstrip()
