"""Schemes with something changed at random are schemes, or say what is wrong with them and where."""

from __future__ import annotations

import re
from random import Random

import numpy as np

import polymat as pm
from polymat import Float, Image, Int, Interval, Op, OptionError, Parameter, Reduce, Reduction, Variable
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.product.kernelfit import UserKernels
from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.schemeplanner import plan_scheme
from tests.differential.schemes import random_scheme
from tests.tolerance import assert_close

COUNT = 200
M, N, K = (Parameter(Int, name) for name in "MNK")
A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
DIMS, SUMMED, OPERANDS = ("i", "j"), ("k",), {"A": ("i", "k"), "B": ("k", "j")}
MARKS = "[](),|: 0179RkTjViUAx*"


def changed(text: str, rng: Random) -> str:
    """A mark left out, put in, replaced or moved, or atoms left out, twice or elsewhere."""
    atoms = re.findall(r"\w+\([^)]*\)", text)
    at, other = rng.randrange(len(text)), rng.randrange(len(text))
    match rng.randrange(6):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + rng.choice(MARKS) + text[at:]
        case 2:
            return text[:at] + rng.choice(MARKS) + text[at + 1 :]
        case 3:
            least, most = sorted((at, other))
            return text[:least] + text[most:] + text[least:most]
        case 4:
            atoms.insert(rng.randrange(len(atoms) + 1), rng.choice(atoms))
        case _:
            rng.shuffle(atoms)
            atoms = atoms[: rng.randint(1, len(atoms))]
    return f"[{', '.join(atoms)}]"


def refusal(pipeline: Pipeline, text: str, machine: Machine) -> OptionError | None:
    """Why the product has no such scheme; None where it has."""
    try:
        user = UserKernels.of((), pipeline)
        plan = plan_scheme(pipeline.stage("C"), text, pipeline.context, machine, {}, None, user)
    except OptionError as told:
        return told
    return None if str(read_scheme(text)) in plan.reason else OptionError("another scheme was planned")


def test_changed_schemes_are_schemes_or_say_what_is_wrong(seed: int) -> None:
    rng, request = Random(f"{seed} changed"), request_for((A @ B).named("C"))
    pipeline = next(level for name, level in levels(request) if name == "built")
    assert isinstance(pipeline, Pipeline)
    lanes = request.machine.lanes(pm.Double.size)
    refused = unread = 0
    for _ in range(COUNT):
        text = changed(random_scheme(rng, DIMS, SUMMED, OPERANDS, lanes), rng)
        found = read_scheme(text)
        if isinstance(found, Scheme):
            assert read_scheme(str(found)) == found, text
        else:
            unread += 1
            assert found.problem, text
            assert found.hint, text
        told = refusal(pipeline, text, request.machine)
        if told is None:
            assert isinstance(found, Scheme), text
        else:
            refused += 1
            assert told.location is pipeline.stage("C").at, text
            assert told.message.startswith("Options.scheme['C'] does not fit: "), text
            assert told.hint, text
    assert COUNT / 4 < unread <= refused <= COUNT


def convolved() -> Reduction:
    """A convolution of images with channels last, by taps of r rows and s columns."""
    height, width, depth, count = (Parameter(Int, name) for name in ("H", "W", "C", "F"))
    h, w, k, r, s, c = (Variable(Int, name) for name in "hwkrsc")
    image = Image(Float, "I", [height + 2, width + 2, depth])
    taps = Image(Float, "K", [3, 3, depth, count])

    def upto(size: object) -> Interval:
        return Interval(Int, 0, size - 1)  # type: ignore[operator]

    results, three = [upto(height), upto(width), upto(count)], Interval(Int, 0, 2)
    whole = ([h, w, k, r, s, c], [*results, three, three, upto(depth)])
    out = Reduction(([h, w, k], results), whole, Float, "O")
    out.defn = [Reduce(out(h, w, k), image(h + r, w + s, c) * taps(r, s, c, k), Op.Sum)]
    return out


def test_twelve_levels_of_a_convolution() -> None:
    """The example of Tollenaere's thesis, section 5.4.3, whose factors are sizes here, with our vectors.

    There T(4, w) are four rounds around 48 points of w; its vectors have 16 elements, and two are unrolled.
    """
    lanes = request_for(convolved()).machine.lanes(Float.size)
    text = (
        "[T(w, 48), R(r), T(h, 48), T(c, 256), R(w), R(k), R(s), R(h), R(c), "
        f"U(w, 12), U(k, {2 * lanes}), V(k, {lanes})]"
    )
    found = read_scheme(text)
    assert not isinstance(found, Misfit)
    assert (len(found.atoms), str(found)) == (12, text)
    run = pm.compile(convolved(), options=pm.Options(scheme={"O": text}, threads=1))
    group = run.explain().groups[0]
    assert (group.kind, text in group.reason) == ("scheme", True)
    rng = np.random.default_rng(5)
    height, width, depth, count = 49, 50, 258, 2 * lanes + 3
    image = rng.random((height + 2, width + 2, depth), dtype=np.float32)
    taps = rng.random((3, 3, depth, count), dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(0, 1))
    expected = np.einsum("hwcrs,rsck->hwk", windows, taps, optimize=True)
    assert_close(run(image, taps), expected, roundings=9 * depth + 1, magnitude=9.0 * depth)
