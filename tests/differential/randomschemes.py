"""Random schemes of some forty programs against the interpreter: `python -m tests.differential.randomschemes`.

With "sanitized" generated code is compiled and run as `tests.differential.sanitized` does it, with "fast" by the
flags that users have, with "wrong" schemes are changed at random and have to say what is wrong with them, or
to be those of the plan.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.differential.sanitized import FLAGS, run_all

MODULE = "tests.differential.randomschemes"
PATIENT = 900.0  # seconds for the C compiler
TOGETHER = 8  # programs in a library: more take the C compiler long
SIZES = (
    (13, 17, 11, 4),
    (1, 1, 1, 1),
    (0, 3, 2, 5),
    (5, 4, 0, 2),
    (7, 9, 5, 3),
    (24, 32, 8, 2),
    (90, 70, 6, 3),  # more than a tile of products, which are 40 to 56
)
_LANES = re.compile(r"^V\((\w+), \d+\)$")
WAYS = {"plain": ("-O1",), "sanitized": FLAGS, "fast": ()}


def drawn(seed: int, number: int, dtype: Any, lanes: int) -> Any:
    """The program of a number, with its schemes."""
    from tests.differential.schememaker import Maker
    from tests.differential.schemeprograms import PROGRAMS

    make = PROGRAMS[number % len(PROGRAMS)]
    maker = Maker(Random(f"{seed} {number}"), f"{make.__name__}{number}", dtype, lanes)
    return replace(make(maker), microkernels=tuple(maker.microkernels))


def failures(seed: int, numbers: Sequence[int], cflags: Sequence[str]) -> Iterator[str]:
    """What is wrong with some programs, compiled together."""
    import numpy as np

    import polymat as pm
    from polymat.driver import request_for
    from polymat.product.schemetext import read_scheme
    from tests.differential.schemeprograms import K, L, M, N
    from tests.tolerance import assert_close

    dtype = (pm.Double, pm.Float)[numbers[0] // TOGETHER % 2]
    lanes = request_for(pm.Matrix(dtype, "A", [M, N]) * 1.0).machine.lanes(dtype.size)
    found = [drawn(seed, number, dtype, lanes) for number in numbers]
    schemes = {name: text for each in found for name, text in each.schemes.items()}
    yield from (f"{text} is printed otherwise" for text in schemes.values() if str(read_scheme(text)) != text)
    outputs = [out for each in found for out in each.outputs]
    inputs = [array for each in found for array in each.inputs]
    extents = [shape for each in found for shape in each.extents]
    options = pm.Options(scheme=schemes, threads=1 + numbers[0] % 2, parallel_threshold=0, share=False)
    kernels = tuple(kernel for each in found for kernel in each.microkernels)
    options = replace(options, cflags=tuple(cflags), inline=False, microkernels=kernels)
    try:
        compiled = pm.compile(outputs, name=f"schemes{numbers[0]}", inputs=inputs, options=options)
    except (pm.OptionError, AssertionError) as error:
        yield f"{numbers}: {error}"
        return
    runs = planned(request_for(outputs, inputs=inputs, options=options))
    for name, text in schemes.items():
        if not is_said_by(text, runs.get(name, ())):
            yield f"{text} of {name} runs as {', '.join(map(str, runs.get(name, ())))}"
    values = np.random.default_rng(numbers[0])
    for sizes in SIZES:
        known = dict(zip((M, N, K, L), sizes, strict=True))
        shapes = [[extent(form, known) for form in shape] for shape in extents]
        arrays = [values.random(shape).astype(dtype.dtype) for shape in shapes]
        results = compiled.reference(*arrays)
        held = tuple(np.full_like(wanted, np.nan) for wanted in results)  # read by nobody
        compiled(*arrays, out=held)
        for out, got, wanted in zip(outputs, held, results, strict=True):
            got[np.isnan(got) & (wanted == 0)] = 0  # around a domain nothing is written
            try:
                assert_close(got, wanted, roundings=4 * sizes[2] * sizes[3] + 60, name=out.name)
            except AssertionError as error:
                own = {
                    name: text
                    for name, text in schemes.items()
                    if name.split("_")[1:] == out.name.split("_")[1:]
                }
                yield f"{sizes}: {own} {error}"


def misread(seed: int, numbers: Sequence[int]) -> Iterator[str]:
    """What is wrong with changed schemes: refused without saying where or what to do, or not what runs."""
    import polymat as pm
    from polymat.driver import request_for
    from polymat.errors import InternalError
    from tests.product.test_schememutations import changed

    refused = 0
    for number in numbers:
        rng, program = Random(f"{seed} wrong {number}"), drawn(seed, number, pm.Double, 4)
        name = rng.choice([*program.schemes])
        text = rng.choice((changed, with_another))(program.schemes[name], rng)
        schemes = {**program.schemes, name: text}
        kernels = tuple(
            each for each in program.microkernels if f"Call({each.name})" in "".join(schemes.values())
        )
        options = pm.Options(scheme=schemes, share=False, inline=False, microkernels=kernels)
        request = request_for(program.outputs, inputs=program.inputs, options=options)
        try:
            runs = planned(request).get(name, ())
        except pm.OptionError as told:
            said, refused = str(told), refused + 1
            if told.location is None or "\nhint: " not in said or "Options.scheme[" not in said:
                yield f"{text} of {name} is refused by {said}"
        except InternalError as told:
            yield f"{text} of {name}: {told}"
        else:
            if not is_said_by(text, runs):
                yield f"{text} of {name} runs as {', '.join(map(str, runs))}"
    if refused < len(numbers) / 2:
        yield f"{refused} of {len(numbers)} changed schemes are refused"


def with_another(text: str, rng: Random) -> str:
    """A scheme with one more atom, which is seldom one of its stage."""
    atoms = re.findall(r"\w+\([^)]*\)", text)
    dim, size = rng.choice(re.findall(r"\b[a-z]\b", text)), rng.randint(1, 9)
    sized = f"T({dim}, {size})", f"U({dim}, {size})", f"seq({dim}: {size + 1} | {size})"
    plain = (f"{word}({dim})" for word in ("back", "roll", "Par", "R", "V", "pack"))
    atoms.insert(rng.randint(0, len(atoms)), rng.choice((*sized, *plain)))
    return f"[{', '.join(atoms)}]"


def planned(request: Any) -> dict[str, Sequence[Any]]:
    """The atoms of what a request is compiled to, by stage: in a tile those of the tile and of its loops."""
    from polymat.driver import levels
    from polymat.graph.stepwise import Stepwise
    from polymat.plan.planscheme import inner_atoms, schemes_of, tile_atoms
    from polymat.plan.schedule import Schedule
    from polymat.plan.tile import TilePlan

    found: dict[str, Sequence[Any]] = {}
    for name, level in levels(request):
        schedules = level.flat() if isinstance(level, Stepwise) else (level,)
        for plan in (plan for each in schedules if isinstance(each, Schedule) for plan in each.plans):
            found |= {stage: scheme.atoms for stage, scheme in schemes_of(plan).items()}
            if isinstance(plan, TilePlan):
                for member in plan.members:
                    found[member.stage] = (*tile_atoms(plan, member), *inner_atoms(plan, member))
        if name == "codegen":
            break
    return found


def is_said_by(text: str, runs: Sequence[Any]) -> bool:
    """Whether what runs has all atoms of a text: loops in order, whatever the lanes of vectors.

    Of stages that are no products R outside of tiles are loops over tiles of one point.
    """
    from polymat.product.scheme import GroupAtom, SchemeLoop
    from polymat.product.schemetext import Misfit, read_scheme

    wanted = read_scheme(text)
    if isinstance(wanted, Misfit):
        return False
    groups = {str(atom) for atom in wanted.atoms if isinstance(atom, GroupAtom) and atom.word != "fuse"}
    loops = [_LANES.sub(r"V(\1)", str(atom)) for atom in wanted.own]
    tiles = [at for at, atom in enumerate(wanted.own) if isinstance(atom, SchemeLoop) and atom.kind == "T"]
    outside = max(tiles, default=0)
    points = [re.sub(r"^R\((\w)\)$", r"T(\1, 1)", loop) for loop in loops[:outside]] + loops[outside:]
    written = [_LANES.sub(r"V(\1)", str(atom)) for atom in runs]
    in_order = any(all(each in rest for each in way) for way in (loops, points) for rest in [iter(written)])
    return in_order and groups <= {*written}


def extent(form: Any, known: Any) -> int:
    """An extent at some sizes: it is a multiple of one or two of these and a number."""
    from polymat.lang.indices import as_affine

    return int(as_affine(form, None).evaluate({size.name: value for size, value in known.items()}))


def main() -> int:
    """Run programs; 1 when a result is wrong.  The sanitizers end the process themselves."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    from polymat.runtime import toolchain

    toolchain._COMPILE_SECONDS = (
        PATIENT  # sanitized code of eight programs, on a machine that does other things
    )
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("POLYMAT_SEED", "1")))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("way", nargs="?", default="plain", choices=[*WAYS, "wrong"])
    asked = parser.parse_args()
    bad = 0
    if asked.way == "wrong":
        found = [*misread(asked.seed, range(asked.first, asked.first + asked.count))]
        print(*found, f"wrong: {asked.count} programs of seed {asked.seed}, {len(found)} failures", sep="\n")
        return bool(found)
    for first in range(asked.first, asked.first + asked.count, TOGETHER):
        numbers = range(first, min(first + TOGETHER, asked.first + asked.count))
        for failure in failures(asked.seed, numbers, WAYS[asked.way]):
            bad += 1
            print(failure, flush=True)
    print(f"{asked.way}: {asked.count} programs of seed {asked.seed}, {bad} failures", flush=True)
    return bool(bad)


def command(seed: int, count: int, first: int, way: str) -> list[str]:
    """The command that runs `count` programs in one way."""
    numbers = ["--seed", str(seed), "--count", str(count), "--first", str(first)]
    return [sys.executable, "-m", MODULE, *numbers, way]


if __name__ == "__main__":
    is_loaded = "libasan" in os.environ.get("LD_PRELOAD", "")
    sys.exit(run_all(MODULE) if "sanitized" in sys.argv and not is_loaded else main())
