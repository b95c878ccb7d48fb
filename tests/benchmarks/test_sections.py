"""Problems of the sections, at toy sizes: polymat, SciPy, FFTW and OpenBLAS agree with what is expected."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.cases import Case, Judge
from benchmarks.dsp.scipy_versions import solve
from benchmarks.peers import array_libraries, blas, fftw, pipelines, scipy_images, scipy_signals
from benchmarks.peers.table import find_peer, polymat_peer
from benchmarks.problems import describe
from benchmarks.sections import SECTIONS
from benchmarks.sections.channels import FORMS, blur_case
from benchmarks.sections.contractions import CONTRACTIONS, contraction_case
from benchmarks.sections.convolutions import convolution_case
from benchmarks.sections.filters import fir_case, pipeline_case
from benchmarks.sections.networks import drawn, network_case
from benchmarks.sections.products import CROSSOVER, product_case
from benchmarks.sections.recursive import recursive_case
from benchmarks.sections.rows import attention_case, kalman_case, layer_norm_case, softmax_case
from benchmarks.sections.stencils import stencil_case
from benchmarks.sections.transforms import transform_case
from benchmarks.stencils import PROGRAMS
from benchmarks.task import MissingError, Prepared, Task
from polymat.graph.build import build
from polymat.graph.interpret import interpret

Prepare = Callable[[Task], Prepared]
SIZES = dict(zip("abcdefg", (3, 4, 2, 5, 3, 2, 4), strict=True))


def toy_contraction(name: str) -> Case:
    return contraction_case(name, {index: SIZES[index] for index in set(name) - {"-"}})


def agrees(case: Case, prepare: Prepare) -> bool:
    prepared = prepare(case.task)
    return Judge(case).error(prepared.call()) <= 1 and (prepared.repeat is None or prepared.repeat(2) > 0)


@pytest.mark.parametrize("name", sorted(CONTRACTIONS))
def test_every_contraction_is_described_right(name: str) -> None:
    case = toy_contraction(name)
    assert agrees(case, array_libraries.prepare_numpy)
    description = describe(case.task)[0]
    pipeline = build(description.outputs, inputs=description.inputs)
    extents = {f"n{index}": SIZES[index] for index in set(name) - {"-"}}
    assert Judge(case).error(interpret(pipeline, case.task.arrays, extents)["C"]) <= 1


def test_every_network_is_described_right() -> None:
    assert sorted(len(name.split(",")) for name in drawn()) == sorted([3, 4, 5, 6] * 5)
    for name, extents in drawn().items():
        case = network_case(name, {letter: 2 + extent % 3 for letter, extent in extents.items()})
        assert agrees(case, array_libraries.prepare_numpy)
        description = describe(case.task)[0]
        pipeline = build(description.outputs, inputs=description.inputs)
        sizes = {size.name: case.task.values["sizes"][size.name] for size in description.sizes}
        assert Judge(case).error(interpret(pipeline, case.task.arrays, sizes)["C"]) <= 1


def test_a_wrong_contraction_is_seen() -> None:
    case = toy_contraction("abcd-aebf-dfce")
    (right,) = array_libraries.prepare_numpy(case.task).call()
    right[-1, 0, 0, 0] += 1e-9
    assert Judge(case).error(right) > 1


def test_there_are_as_many_cases_as_the_literature_has() -> None:
    assert len(CONTRACTIONS) == 36
    assert len(CROSSOVER) == 40


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "prepare", [array_libraries.prepare_numpy, pipelines.prepare_from_c, blas.prepare_openblas]
)
def test_product(prepare: Prepare, dtype: type) -> None:
    assert agrees(product_case((5, 7, 3), dtype, "toy"), prepare)


@pytest.mark.parametrize("prepare", [pipelines.prepare_from_c, blas.prepare_openblas])
def test_scaled_product(prepare: Prepare) -> None:
    assert agrees(product_case((5, 7, 3), np.float32, "toy", scaled=True), prepare)


@pytest.mark.parametrize("prepare", [array_libraries.prepare_numpy, pipelines.prepare])
def test_layer(prepare: Prepare) -> None:
    assert agrees(product_case((5, 7, 3), np.float32, "toy", problem="layer"), prepare)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("prepare", [pipelines.prepare, scipy_signals.prepare_recursive])
def test_recursive_filters(prepare: Prepare, dtype: type) -> None:
    assert agrees(recursive_case("sosfilt", 4, dtype, 1, 100), prepare)
    assert agrees(recursive_case("sosfilt", 4, dtype, 3, 90), prepare)
    assert agrees(recursive_case("lfilter", 2, dtype, 1, 100), prepare)


@pytest.mark.parametrize("prepare", [array_libraries.prepare_numpy, pipelines.prepare])
def test_rows(prepare: Prepare) -> None:
    for case in (softmax_case((2, 3, 5, 37)), softmax_case((7, 16)), layer_norm_case(5, 33)):
        assert agrees(case, prepare)
    assert agrees(attention_case(9, 4), prepare)
    assert agrees(kalman_case(11), prepare)


@pytest.mark.covering
@pytest.mark.parametrize("layer", [(3, 2, 4, 3, 1), (2, 3, 6, 1, 2), (4, 1, 6, 5, 2)])
@pytest.mark.parametrize("fused", [False, True])
def test_convolution(layer: tuple[int, int, int, int, int], fused: bool) -> None:
    assert agrees(convolution_case("toy", layer, fused=fused), pipelines.prepare)


@pytest.mark.covering
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prepare", [pipelines.prepare, scipy_images.prepare])
def test_blur(prepare: Prepare, form: str) -> None:
    assert agrees(blur_case(form, 9, 13), prepare)


@pytest.mark.covering
@pytest.mark.parametrize("length", [16, 13])
@pytest.mark.parametrize(
    "prepare",
    [
        array_libraries.prepare_numpy,
        pipelines.prepare,
        pipelines.prepare_from_c,
        fftw.prepare_estimated,
        fftw.prepare_measured,
    ],
)
def test_transform(length: int, prepare: Prepare) -> None:
    assert agrees(transform_case(length), prepare)


@pytest.mark.covering
@pytest.mark.parametrize("down", [1, 3])
@pytest.mark.parametrize(
    "prepare",
    [
        pipelines.prepare,
        scipy_signals.prepare_lfilter,
        scipy_signals.prepare_oaconvolve,
        scipy_signals.prepare_upfirdn,
    ],
)
def test_fir(prepare: Prepare, down: int) -> None:
    for samples in (8, 100, 101):
        assert agrees(fir_case(8, np.float64, down, samples), prepare)
    assert agrees(fir_case(9, np.float32, down, 50), prepare)


@pytest.mark.parametrize(("name", "samples"), [("unwanted-spectral", 41000), ("sub-band", 1001)])
def test_versions_of_a_pipeline_agree(name: str, samples: int) -> None:
    case = pipeline_case(name, samples)
    for prepare in (scipy_signals.prepare_direct_pipeline, scipy_signals.prepare_streaming_pipeline):
        assert agrees(case, prepare)


def test_sub_band_has_the_lengths_of_its_stages() -> None:
    whole, *bands = solve("sub-band", np.ones(1003), "best")
    assert [len(whole), *(len(band) for band in bands)] == [1003, 251, 251, 251, 251]


@pytest.mark.covering
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "prepare",
    [
        array_libraries.prepare_numpy,
        pipelines.prepare,
        pipelines.prepare_unfused,
        pipelines.prepare_naive,
    ],
)
def test_stencils(prepare: Prepare, program: object) -> None:
    assert agrees(stencil_case(program, "MINI"), prepare)  # type: ignore[arg-type]


def test_a_peer_refuses_what_it_does_not_know() -> None:
    task = Task("nothing", {})
    for prepare in (
        fftw.prepare_estimated,
        scipy_signals.prepare_lfilter,
        scipy_signals.prepare_best_pipeline,
        pipelines.prepare,
    ):
        with pytest.raises(MissingError, match=r"no .* nothing"):
            prepare(task)


def test_peers_have_names_of_their_own() -> None:
    for section in SECTIONS.values():
        peers = [peer.name for peer in section.peers(2)]
        assert len(set(peers)) == len(peers)
        for peer in section.peers(2):
            assert peer.environment["OMP_NUM_THREADS"] == ("1" if "one thread" in peer.name else "2")
        assert not any("one thread" in peer.name for peer in section.peers(1))
    with pytest.raises(KeyError, match="no peer 'nobody'; there are NumPy"):
        find_peer("nobody", 1)
    assert polymat_peer(1).environment["OPENBLAS_NUM_THREADS"] == "1"
