"""What every register block is: a C function that keeps sums in registers along a depth.

`RegisterBlock` describes one: its sums, what each step of the depth loads, adds and requests, and what
becomes of the sums; `block_text` prints it, and `declared` what others see of several.  `sums`, `loads` and
`steps` describe what most have in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import indent

from polymat.codegen.products.blockshape import Shape
from polymat.dataclass import dataclass

UNUSED = "__attribute__((unused))"  # tables, by some of the files that a product is compiled as
FEW_ROWS = range(2, 5)  # of blocks whose vectors gcc would load again for each row
WRITTEN_OUT = 4  # steps of a block: the instructions around each get in the way of its multiply-adds


@dataclass(frozen=True, slots=True)
class WrittenSteps:
    """Steps of a register block that are written out one after the other.

    count: so many.  requests: of each, where `turn` is its number.  onward: what comes behind all of them.
    """

    count: int
    requests: tuple[str, ...] = ()
    onward: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegisterBlock:
    """A register block.

    sums: their declarations, zero each.  loads, steps, requests: what is done at each step of the depth:
    elements are loaded, their products added to the sums, and what is needed later is requested; without
    steps there is no loop.  stores: what becomes of the sums.  before: declarations and requests.  first: a
    loop over a part of the depth, or steps that are written out.  around: how a loop begins that has the one
    over the depth in it.  written: steps that are written out, with requests of their own, before the loop
    over those that are left.
    """

    name: str
    parameters: str
    sums: tuple[str, ...]
    stores: str
    loads: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    before: str = ""
    first: str = ""
    around: tuple[str, ...] = ()
    written: WrittenSteps | None = None
    comment: str = ""
    linkage: str = "_PM_SHARED"


def block_text(block: RegisterBlock) -> str:
    """The C function."""
    body = f"{block.before}{statements(block.sums, 4)}{block.first}{_depth(block)}{block.stores}"
    return f"{block.comment}{_head(block)}\n{{\n{body}}}\n"


def declared(blocks: Iterable[RegisterBlock]) -> str:
    """The declarations of the C functions."""
    return "".join(f"{_head(block)};\n" for block in blocks)


def _head(block: RegisterBlock) -> str:
    return f"{block.linkage} __attribute__((noinline)) void {block.name}({block.parameters})"


def _depth(block: RegisterBlock) -> str:
    """The loop over the depth, if there is one."""
    if not block.steps:
        return ""
    body = statements((*block.loads, *block.steps, *block.requests), 8)
    begin = "ptrdiff_t k = 0" if block.written is None else ""
    loop = _loop(f"{begin}; k < depth; k++", body, 4)
    if block.written is not None:
        loop = _written_out(block, block.written) + loop
    if not block.around:
        return loop
    inner = indent(loop, "    ", lambda line: not line.startswith("#"))
    return f"{statements(block.around, 4)}{inner}    }}\n"


def _written_out(block: RegisterBlock, written: WrittenSteps) -> str:
    """The loop over as many steps at a time as are written out."""
    body, count = statements((*block.loads, *block.steps, *written.requests), 12), written.count
    one = _loop(f"int turn = 0; turn < {count}; turn++", body, 8, unroll=count)
    several = _loop(f"; k + {count} <= depth; k += {count}", one + statements(written.onward, 8), 4)
    return f"    ptrdiff_t k = 0;\n{several}"


def _loop(head: str, body: str, indented: int, *, unroll: int = 1) -> str:
    margin = " " * indented
    return f"#pragma GCC unroll {unroll}\n{margin}for ({head}) {{\n{body}{margin}}}\n"


def statements(lines: Iterable[str], spaces: int) -> str:
    """Lines of a body."""
    return "".join(f"{' ' * spaces}{line}\n" for line in lines)


def sums(shape: Shape, rows: Iterable[int], vectors: int) -> tuple[str, ...]:
    """The sums of some rows, zero each."""
    columns = [", ".join(f"c{row}_{v} = {{0}}" for v in range(vectors)) for row in rows]
    return tuple(f"_pm_vector_{shape.suffix} {each};" for each in columns)


def loads(shape: Shape, values: Iterable[str]) -> tuple[str, ...]:
    """A row of B in registers."""
    return tuple(f"const _pm_vector_{shape.suffix} b{v} = {value};" for v, value in enumerate(values))


def whole_vectors(shape: Shape, vectors: int, *, once: bool = False) -> list[str]:
    """A row of B of whole vectors; once: so that gcc loads each once.

    It takes memory that nobody writes for as good as a register, and loads it once more for each of a few
    rows, and where steps are written out; volatile loads it does not repeat.
    """
    kind = "volatile " if once else ""
    return [f"*(const {kind}_pm_memory_{shape.suffix} *)(b + {v * shape.lanes})" for v in range(vectors)]


def mask(shape: Shape) -> str:
    """The lanes of a last vector of which `last` are there."""
    return f"    const _pm_mask_{shape.suffix} mask = _PM_MASK_{shape.suffix}(last);\n"


def right_row(shape: Shape, rows: int, vectors: int) -> list[str]:
    """A row of B whose last vector is a part of one, for so many rows."""
    last = f"_pm_load_{shape.suffix}(b + {(vectors - 1) * shape.lanes}, mask)"
    return [*whole_vectors(shape, vectors - 1, once=rows in FEW_ROWS), last]


def steps(shape: Shape, rows: int, vectors: int, *apart: str) -> tuple[str, ...]:
    """Products of a column of A with a row of B, added to the sums, and the way to the next ones.

    apart: elements from row to row of A, and along the depth of A and of B.
    """
    a_row, a_step, b_step = apart
    lines = []
    for row in range(rows):
        lines.append(f"const {shape.ctype} a{row} = a[{row} * {a_row}];")
        lines += [f"c{row}_{v} += a{row} * b{v};" for v in range(vectors)]
    return (*lines, f"a += {a_step};", f"b += {b_step};")
