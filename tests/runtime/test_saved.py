from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.errors import ArgumentError, PolymatError, ToolchainError
from polymat.runtime.compiled import Compiled, load
from polymat.runtime.cpu import native_cpu
from polymat.runtime.metadata import Metadata, from_json, to_json
from tests.runtime import hand_written as kernels

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


@pytest.fixture(scope="module")
def mm(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    directory = tmp_path_factory.mktemp("kernels")
    return kernels.mm(directory, header="void mm(void);\n", report="two groups", cpu=native_cpu(), threads=3)


def test_a_saved_pipeline_is_the_same_pipeline(mm: Compiled, tmp_path: Path) -> None:
    path = mm.save(tmp_path / "new" / "build")
    assert path == tmp_path / "new" / "build" / "mm.json"
    found = sorted(item.name for item in path.parent.iterdir())
    assert found == ["libmm.so", "mm.h", "mm.json", "polymat-mm.pc", "polymat-mmConfig.cmake"]
    assert (path.parent / "mm.h").read_text() == "void mm(void);\n"
    again = load(path)
    np.testing.assert_array_equal(again(A, B), A @ B)
    assert again.signature == mm.signature
    assert (again.source, again.header, again.cpu) == (mm.source, mm.header, mm.cpu)
    assert (again.explain(), again.threads, repr(again)) == ("two groups", 3, repr(mm))
    with pytest.raises(PolymatError, match="mm: a pipeline that comes from a file has no reference"):
        again.reference(A, B)


def test_saving_is_repeatable_and_over_itself(mm: Compiled, tmp_path: Path) -> None:
    texts = []
    loaded = mm
    for _ in range(3):
        loaded = load(loaded.save(tmp_path))
        texts.append((tmp_path / "mm.json").read_text())
    assert texts[0] == texts[1] == texts[2]
    np.testing.assert_array_equal(loaded(A, B), A @ B)


def test_every_signature_survives(tmp_path: Path) -> None:
    for make in (kernels.axpy, kernels.lower, kernels.both, kernels.dot, kernels.halves, kernels.fill):
        compiled = make(tmp_path)
        assert load(compiled.save(tmp_path / "saved")).signature == compiled.signature


def test_a_file_that_was_replaced_is_not_mistaken_for_the_old_one(mm: Compiled, tmp_path: Path) -> None:
    old = load(mm.save(tmp_path))
    other_directory = tmp_path / "other"
    other_directory.mkdir()
    body = "    for (ptrdiff_t i = 0; i < sizes[0] * sizes[2]; i++) ARRAY(2, double)[i] = 7;"
    changed = Compiled(kernels.build(other_directory, mm.signature, body), mm.signature)
    with pytest.raises(
        ArgumentError, match=r"save\(\): .*mm.json is another program of the name mm"
    ) as refused:
        changed.save(tmp_path)
    assert "save(..., overwrite=True) replaces the program" in str(refused.value)
    np.testing.assert_array_equal(load(tmp_path / "mm.json")(A, B), A @ B)
    new = load(changed.save(tmp_path, overwrite=True))
    np.testing.assert_array_equal(new(A, B), np.full((2, 4), 7.0))
    np.testing.assert_array_equal(old(A, B), A @ B)
    np.testing.assert_array_equal(load(mm.save(tmp_path, overwrite=True))(A, B), A @ B)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda data: data[:-1], "bytes instead of"),
        (lambda data: data[: len(data) // 2], "bytes instead of"),
        (lambda data: b"", "it has 0 bytes instead of"),
        (lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:], "SHA-256"),
    ],
)
def test_damaged_libraries(mm: Compiled, tmp_path: Path, damage: Callable[[bytes], bytes], text: str) -> None:
    path = mm.save(tmp_path)
    library = tmp_path / "libmm.so"
    library.write_bytes(damage(library.read_bytes()))
    with pytest.raises(ToolchainError, match=f"libmm.so is damaged or belongs to another pipeline: .*{text}"):
        load(path)


def test_missing_files(mm: Compiled, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"cannot read .*absent.json: No such file"):
        load(tmp_path / "absent.json")
    with pytest.raises(
        ToolchainError, match=r"is a directory: load\(\) takes the .json file in it\nhint: it has none"
    ):
        load(tmp_path)
    path = mm.save(tmp_path)
    with pytest.raises(ToolchainError, match=r"is a directory: .*\nhint: it has mm.json"):
        load(tmp_path)
    for beside in ("libmm.so", "mm.h"):
        with pytest.raises(
            ToolchainError, match=r"takes the .json file beside it\nhint: load\(.*/mm.json'\)"
        ):
            load(tmp_path / beside)
    (tmp_path / "libmm.so").unlink()
    with pytest.raises(ToolchainError, match=r"cannot read .*libmm.so, the code of .*mm.json"):
        load(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "not JSON"),
        ("[]", "not a saved pipeline"),
        ("3", "not a saved pipeline"),
        ('{"format": "polymat 3", "format": "polymat 3"}', "a key is there twice"),
        ('{"format": NaN}', "NaN is not a JSON number"),
        ('{"format": "polymat 1"}', "not a saved pipeline of format"),
        ('{"format": "polymat 3", "abi": 99}', "calling convention 99"),
        ('{"format": "polymat 3", "abi": 3}', "the checksum does not match"),
    ],
)
def test_metadata_that_is_none(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ToolchainError, match=f"x.json is not usable: .*{why}"):
        load(path)


def test_metadata_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ToolchainError, match=r"x.json is not usable"):
        load(tmp_path / "x.json")


def test_a_changed_file_is_noticed(mm: Compiled, tmp_path: Path) -> None:
    path = mm.save(tmp_path)
    text = path.read_text()
    for old, new in (('"least": 0', '"least": 1'), ('"K"', '"Q"'), ("two groups", "one group")):
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(ToolchainError, match="changed or damaged"):
            load(path)
    document = json.loads(text)
    path.write_text(json.dumps(document))
    load(path)


def _resigned(metadata: Metadata, change: Callable[[dict[str, Any]], object]) -> str:
    """Metadata changed by someone who also computes the checksum."""
    from polymat.runtime import metadata as module

    document = json.loads(to_json(metadata))
    del document["checksum"]
    change(document)
    document["checksum"] = module._checksum(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(extra=1),
        lambda d: d.pop("cpu"),
        lambda d: d.update(size=True),
        lambda d: d.update(threads=2**64),
        lambda d: d.update(threads=-1),
        lambda d: d.update(threads=5000),
        lambda d: d["signature"].update(routines=["cblas_dgemm"] * 70_000),
        lambda d: d["signature"]["inputs"][0].update(extents=[{"const": 1, "terms": [], "divisor": 1}] * 65),
        lambda d: d["signature"].update(name="../evil"),
        lambda d: d["signature"].update(name="a b"),
        lambda d: d["signature"].update(order=["A", "Q"]),
        lambda d: d["signature"].update(outputs=[]),
        lambda d: d["signature"].update(inputs=3),
        lambda d: d["signature"].update(inplace=[[0, 9]]),
        lambda d: d["signature"].update(inplace=[[0]]),
        lambda d: d["signature"]["inputs"][0].update(dtype="O"),
        lambda d: d["signature"]["inputs"][0].update(zero_fill=1),
        lambda d: d["signature"]["inputs"][0].update(extents=[]),
        lambda d: d["signature"]["outputs"][0].update(written_from=[{"const": 0, "terms": [], "divisor": 1}]),
        lambda d: d["signature"]["outputs"][0].update(written_from=[1, 2]),
        lambda d: d["signature"]["inputs"][0]["extents"][0].update(divisor=0),
        lambda d: d["signature"]["inputs"][0]["extents"][0].update(terms=[[7, 1]]),
        lambda d: d["signature"]["sizes"][0].update(array=5),
        lambda d: d["signature"]["sizes"][0].update(dim=-1),
        lambda d: d["signature"]["sizes"][0].update(dim=1),
        lambda d: d["signature"].update(derived=[{"const": 0, "terms": [[3, 1]], "divisor": 1}]),
    ],
)
def test_metadata_that_makes_no_sense(
    mm: Compiled, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    path = mm.save(tmp_path)
    path.write_text(_resigned(from_json(path.read_text()), change))
    with pytest.raises(ToolchainError, match=r"mm.json is not usable"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["signature"]["order"].reverse(),
        lambda d: d["signature"]["outputs"][0].update(dtype="float32"),
        lambda d: d["signature"]["inputs"][0].update(dtype="complex128"),
        lambda d: d["signature"]["outputs"][0]["extents"].reverse(),
        lambda d: d["signature"]["outputs"].append(d["signature"]["inputs"][0] | {"name": "more"}),
        lambda d: d["signature"]["inputs"][0]["extents"][0].update(const=1),
        lambda d: d["signature"].update(inplace=[[0, 0]]),
    ],
)
def test_metadata_of_another_library(
    mm: Compiled, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """It makes sense, and the call would end the process."""
    path = mm.save(tmp_path)
    path.write_text(_resigned(from_json(path.read_text()), change))
    text = r"mm.json is not usable: its library was compiled for other arguments than it says"
    with pytest.raises(ToolchainError, match=text):
        load(path)


def test_names_may_be_changed(mm: Compiled, tmp_path: Path) -> None:
    path = mm.save(tmp_path)
    text = _resigned(from_json(path.read_text()), lambda d: d["signature"]["outputs"][0].update(name="D"))
    path.write_text(text)
    np.testing.assert_array_equal(load(path)(A, B), A @ B)


def test_another_processor(mm: Compiled, tmp_path: Path) -> None:
    path = mm.save(tmp_path)
    metadata = from_json(path.read_text())
    path.write_text(to_json(dataclasses.replace(metadata, cpu=native_cpu() + " avx9000")))
    with pytest.raises(
        ToolchainError, match=r"was compiled for a processor with avx9000, which this one lacks"
    ):
        load(path)


def test_nowhere_to_save(mm: Compiled, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolchainError, match="cannot save mm in"):
        mm.save(tmp_path / "file")
    lost = kernels.reverse(tmp_path)
    Path(lost.path).unlink()
    with pytest.raises(ToolchainError, match="cannot save reverse: its library is gone"):
        lost.save(tmp_path)


def test_two_libraries_in_one_program(tmp_path: Path) -> None:
    """Each calls its own functions, whose names are the same in both."""
    N = pm.Parameter(pm.Int, "N")
    x = pm.Vector(pm.Double, "x", [N])
    outputs = {"doubled": 2 * x, "reduced": x - 1}
    arguments: list[str] = []
    for name, output in outputs.items():
        pm.compile(output, name=name, options=pm.Options(threads=1)).save(tmp_path / name)
        arguments += [
            f"-I{tmp_path / name}",
            f"-L{tmp_path / name}",
            f"-l{name}",
            f"-Wl,-rpath,{tmp_path / name}",
        ]
    (tmp_path / "main.c").write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "doubled.h"\n#include "reduced.h"\n'
        "int main(void) { static double x[500], y[500], z[500]; x[0] = 3, x[499] = 5;\n"
        '  doubled(x, y, 500), reduced(x, z, 500); printf("%g %g %g %g", y[0], y[499], z[0], z[499]); }\n'
    )
    program = str(tmp_path / "main")
    subprocess.run(["gcc", "-o", program, str(tmp_path / "main.c"), *arguments], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "6 10 2 4"


def test_a_fresh_process_can_load(mm: Compiled, tmp_path: Path) -> None:
    path = mm.save(tmp_path)
    program = (
        "import sys, numpy as np\nfrom polymat.runtime.compiled import load\n"
        "print(load(sys.argv[1])(np.eye(2), np.full((2, 2), 3.0)).sum())"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "12.0\n"
