"""Tables and pictures from records: README is what the command writes; pictures can be printed in black."""

from __future__ import annotations

import importlib.util
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.convergence import Curve
from benchmarks.figures import readme
from benchmarks.figures.__main__ import audit_picture
from benchmarks.figures.glance import glance_lines, kept_in, library_of
from benchmarks.figures.imagerates import image_rate_lines
from benchmarks.figures.readme import GLANCE, README, RESULTS, TABLES, readme_with_figures
from benchmarks.figures.site import NO_PICTURES, write_site
from benchmarks.figures.tables import Column, Table, all_of, caption, table_lines
from benchmarks.harness import Timing
from benchmarks.measure import Row
from benchmarks.records import Entry, Heading, Record, keep_record, read_record, write_record

ABOUT = {
    "machine": "toy (m), 2 cores, 128-bit vectors",
    "compiler": "cc (x) 1; Python 3",
    "date": "2026-01-02",
}
drawing = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed: make docs"
)


def entry(case: str, group: str, threads: int, **seconds: float) -> Entry:
    timings = {name: Timing(name, (value,)) for name, value in seconds.items()}
    row = Row(
        case, group, threads, 2000, 800, True, 8, timings, predicted={"polymat": seconds["polymat"] * 1.2}
    )
    return Entry("s", row)


RECORD = Record(
    ABOUT,
    {"s": Heading("Sums", {"polymat": ("NumPy", "C")})},
    (
        entry("a", "G", 1, polymat=1e-6, NumPy=2e-6, C=8e-6),
        entry("b", "G", 1, polymat=1e-3, NumPy=8e-3, C=2e-3),
        entry("a", "G", 2, polymat=5e-7, NumPy=2e-6),
    ),
    {"1": {"peak, 8 bytes": 50.0, "memory": 20.0}},
)


def test_rates_of_images_are_points_and_shares_of_bandwidth(tmp_path: Path) -> None:
    timings = {
        "polymat, out=": Timing("polymat, out=", (0.01,)),
        "paper, out=": Timing("paper, out=", (0.02,)),
    }
    row = Row("camera PAPER", "PAPER", 1, 2000, 50_000_000, False, 2, timings)
    heading = {"images": Heading("Images", {"polymat, out=": ("paper, out=", "polymage, out=")})}
    roofs = {"1": {"memory": 20.0}}
    assert [*image_rate_lines(tmp_path)] == []
    write_record(tmp_path / "images.json", Record(ABOUT, heading, (Entry("images", row),), roofs))
    _, *lines = image_rate_lines(tmp_path)
    assert lines[2] == "| case | Mpixel/s | of bandwidth | paper, out= |"
    assert lines[4] == "| camera PAPER | 485 | 0.25 | 2.00 |"
    other = Entry("images", replace(row, case="unsharp PAPER", threads=2))
    two = Record(ABOUT, heading, (Entry("images", row), other), roofs | {"2": {"memory": 40.0}})
    write_record(tmp_path / "images.json", two)
    _, *lines = image_rate_lines(tmp_path)
    assert lines[4] == "| camera PAPER | 485 · – | 0.25 · – | 2.00 · – |"
    assert re.fullmatch(r"\| unsharp PAPER \| – · \d+ \| – · 0\.12 \| – · 2\.00 \|", lines[5])


def test_readme_is_what_the_command_writes() -> None:
    text = README.read_text("utf-8")
    assert readme_with_figures(text) == text, "make results"
    assert re.findall(r"<!-- figures: (\w+) -->", text) == [GLANCE, *TABLES]


def test_every_table_names_its_conditions() -> None:
    for table in TABLES.values():
        record = read_record(RESULTS / f"{table.section}.json")
        said = caption(record, table.section)
        for what in ("machine", "compiler", "date"):
            assert record.about[what] in said
        assert re.search(r"; threads [\d ·]+; \d{4}-", said)


def test_a_table_has_threads_side_by_side_and_means() -> None:
    assert caption(RECORD, "s") == (
        "Sums. toy (m), 2 cores, 128-bit vectors; cc (x) 1; Python 3; threads 1 · 2; 2026-01-02."
    )
    assert [*table_lines(RECORD, all_of(RECORD, "s"))] == [
        "| case | polymat | GFLOP/s | NumPy | C |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| a | 1 µs · 500 ns | 2 · 4 | 2.00 · 4.00 | 8.00 · – |",
        "| b | 1 ms · – | 0.002 · – | 8.00 · – | 2.00 · – |",
        "| G, geometric mean of 2 |  |  | 4.00 · 4.00 | 4.00 · – |",
    ]
    best = Table("s", "polymat", (Column("best", ("C", "NumPy")),), means=True)
    assert [*table_lines(RECORD, best)][2:] == ["| G, geometric mean of 2 |  | 2.00 · 4.00 |"]


def test_all_sections_at_a_glance(tmp_path: Path) -> None:
    own = Heading("Ways", {"alone": ("by turns",)})
    rivals = {"polymat": ("NumPy", "C", "unfused, out=")}
    beside = (entry("a", "G", 1, polymat=1.0, NumPy=3.0, C=2.0), entry("b", "G", 1, polymat=1.0, NumPy=0.5))
    own_ways = replace(
        beside[1].row, timings={"polymat": Timing("polymat", (1.0,)), "unfused, out=": Timing("", (0.1,))}
    )
    entries = (*beside, Entry("s", own_ways), Entry("ways", beside[0].row))
    headings = {"s": Heading("Sums", rivals), "ways": own}
    write_record(tmp_path / "x.json", Record(ABOUT, headings, entries))
    (tmp_path / "audit.json").write_text("{}")
    assert [*glance_lines(kept_in(tmp_path))][2:] == [
        "| Sums | NumPy, C | 2 | 1.00 | 1 | 0.50 | a, 2026-01-02 |",
        "",
        "- a: toy (m), 2 cores, 128-bit vectors; cc (x) 1; Python 3",
    ]


def test_readers_are_told_of_a_library_once() -> None:
    peers = ("torch", "torch.compile conv2d", "OpenBLAS, one thread", "SciPy, best", "ndimage", "C fast-math")
    assert [*map(library_of, peers)] == ["PyTorch", "PyTorch", "OpenBLAS", "SciPy", "SciPy", "C"]


def test_what_is_told_beside_times_is_a_column() -> None:
    row = replace(RECORD.entries[0].row, notes={"polymat": "9 KiB"})
    record = replace(RECORD, headings={"s": Heading("S", {"polymat": ("C",)}, told=("polymat",))})
    lines = [*table_lines(replace(record, entries=(Entry("s", row),)), all_of(record, "s"))]
    assert lines == [
        "| case | polymat | GFLOP/s | C | besides |",
        "| --- | ---: | ---: | ---: | --- |",
        "| a | 1 µs | 2 | 8.00 | 9 KiB |",
    ]


def test_records_of_other_machines_stay(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    other = replace(RECORD, about={**ABOUT, "machine": "Chip (TM) (old_core), 4 cores, 256-bit vectors"})
    keep_record(path, other)
    keep_record(path, RECORD)
    assert read_record(path) == RECORD
    assert read_record(tmp_path / "machines" / "old_core" / "s.json") == other
    keep_record(path, replace(RECORD, entries=()))
    assert [each.name for each in (tmp_path / "machines").iterdir()] == ["old_core"]
    keep_record(path, replace(other, entries=()))
    keep_record(path, RECORD)
    kept = tmp_path / "machines" / "old_core"
    assert read_record(kept / "s.json") == other  # which has more rows
    assert read_record(kept / "s.json.fewer") == replace(other, entries=())
    write_site(tmp_path / "site", tmp_path)
    page = (tmp_path / "site" / "_results.md").read_text("utf-8")
    one, two = page.index("## Sums\n\n### m\n\nSums. toy"), page.index("### old_core\n\nSums. Chip (TM)")
    assert page.index("| Sums | NumPy, C |") < one < two
    assert page.count("## Sums") == 1


def test_machines_stand_side_by_side(tmp_path: Path) -> None:
    newer = replace(RECORD, about={**ABOUT, "machine": "Chip (n), 4 cores, 256-bit vectors"})
    write_record(tmp_path / "machines" / "n" / "s.json", newer)
    write_record(tmp_path / "s.json", RECORD)
    lines = [*glance_lines(kept_in(tmp_path))]
    assert [line[:9] for line in lines[2:4]] == ["| Sums | "] * 2
    assert [line[-17:] for line in lines[2:4]] == ["| a, 2026-01-02 |", "| b, 2026-01-02 |"]
    assert lines[5:] == [
        "- a: toy (m), 2 cores, 128-bit vectors; cc (x) 1; Python 3",
        "- b: Chip (n), 4 cores, 256-bit vectors; cc (x) 1; Python 3",
    ]


def test_a_folder_of_a_machine_is_written_like_readmes(tmp_path: Path) -> None:
    """What another machine of that kind, or of another kind, had there is kept."""
    there = tmp_path / "machines" / "n" / "papers" / "s.json"
    first, alike, other = (
        replace(RECORD, about={**ABOUT, "machine": f"Chip ({name}), {cores} cores, 256-bit vectors"})
        for name, cores in (("n", 4), ("n", 8), ("o", 4))
    )
    keep_record(there, first)
    keep_record(there, alike)
    assert read_record(there.with_name("s.json.other")) == first
    write_record(there, other)
    keep_record(there, first)
    assert read_record(tmp_path / "machines" / "o" / "papers" / "s.json") == other
    keep_record(tmp_path / "papers" / "s.json", other)
    keep_record(tmp_path / "papers" / "s.json", RECORD)
    assert read_record(tmp_path / "machines" / "o" / "papers" / "s.json.fewer") == other


def test_what_is_no_record_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("noted by hand", "utf-8")
    keep_record(path, RECORD)
    assert read_record(path) == RECORD
    assert (tmp_path / "s.json.unreadable").read_text("utf-8") == "noted by hand"


def test_tables_follow_their_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readme, "TABLES", {"s": Table("s", "polymat", (Column("C", ("C",)),))})
    write_record(tmp_path / "s.json", RECORD)
    text = "# x\n\n<!-- figures: s -->\nold\n<!-- end -->\ny\n"
    first = readme_with_figures(text, tmp_path)
    assert "| a | 1 µs · 500 ns | 8.00 · – |" in first
    assert first.endswith("\n<!-- end -->\ny\n")
    assert readme_with_figures(first, tmp_path) == first
    slower = replace(RECORD, entries=(entry("a", "G", 1, polymat=4e-6, C=8e-6),))
    write_record(tmp_path / "s.json", slower)
    assert "| a | 4 µs | 2.00 |" in readme_with_figures(first, tmp_path)


def test_the_page_has_tables_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.figures.site.importlib.util.find_spec", lambda name: None)
    write_record(tmp_path / "records" / "s.json", RECORD)
    write_site(tmp_path / "site", tmp_path / "records")
    text = (tmp_path / "site" / "_results.md").read_text("utf-8")
    assert text.startswith(NO_PICTURES)
    assert "## Sums\n\nSums. toy (m)" in text
    assert text.index("## At a glance") < text.index("## Sums")
    assert [*(tmp_path / "site").glob("*.svg")] == []


@drawing
def test_the_papers_tables_are_bars(tmp_path: Path) -> None:
    write_record(tmp_path / "records" / "machines" / "n" / "papers" / "s.json", RECORD)
    write_site(tmp_path / "site", tmp_path / "records")
    text = (tmp_path / "site" / "_papers.md").read_text("utf-8")
    assert text.splitlines()[0] == "## Sums"
    names = [f"_papers-n-s-bars-{threads}.svg" for threads in (1, 2)]
    assert re.findall(r"!\[.*?\]\((.*?)\)", text) == names
    for name in names:
        ET.parse(tmp_path / "site" / name)


@drawing
def test_searches_are_curves(tmp_path: Path) -> None:
    case = Curve("a-b", [1.2, 0.0, 0.5], [2.0, 0.8], ABOUT)
    where = tmp_path / "records" / "searches"
    where.mkdir(parents=True)
    text = json.dumps({"conditions": {"threads": 1, "machine": "toy (m)"}, "cases": {"a-b": asdict(case)}})
    (where / "convergence-m.json").write_text(text, "utf-8")
    (where / "m-one-thread.json").write_text("{}", "utf-8")
    write_site(tmp_path / "site", tmp_path / "records")
    page = (tmp_path / "site" / "_searches.md").read_text("utf-8")
    names = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert names == ["_convergence-m-a-b.svg", "_convergence-m-a-b-expect.svg"]
    for name in names:
        picture = (tmp_path / "site" / name).read_text("utf-8")
        assert all(ABOUT[key] in picture for key in ("machine", "compiler", "date"))
        assert_without_colour(picture)


@drawing
def test_pictures(tmp_path: Path) -> None:
    write_record(tmp_path / "records" / "s.json", RECORD)
    write_site(tmp_path / "site", tmp_path / "records")
    page = (tmp_path / "site" / "_results.md").read_text("utf-8")
    names = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert names == [
        "_s-s-bars-1.svg",
        "_s-s-bars-2.svg",
        "_s-s-predicted-and-measured.svg",
        "_s-s-roofline-threads-1.svg",
    ]
    for name in names:
        text = (tmp_path / "site" / name).read_text("utf-8")
        ET.fromstring(text)
        assert "toy (m), 2 cores, 128-bit vectors; cc 1; Python 3; 2026-01-02" in text
        assert_without_colour(text)
    bars = (tmp_path / "site" / "_s-s-bars-1.svg").read_text("utf-8")
    assert all(f">{word}</text>" in bars for word in ("a", "b", "NumPy", "C", "8", "2"))
    points = (tmp_path / "site" / "_s-s-predicted-and-measured.svg").read_text("utf-8")
    assert "1 thread: 2 of 2 within 1.5" in points
    write_site(tmp_path / "again", tmp_path / "records")
    assert all(
        (tmp_path / "again" / name).read_bytes() == (tmp_path / "site" / name).read_bytes() for name in names
    )


@drawing
def test_rates_over_sizes(tmp_path: Path) -> None:
    from benchmarks.figures.pictures import over_size

    many = tuple(
        entry(f"{n}, float64", "float64", 1, polymat=n * 1e-6, OpenBLAS=(n - 90) ** 2 * 1e-7 + 1e-6)
        for n in (24, 48, 96, 192, 384)
    )
    record = replace(RECORD, entries=many, headings={"s": Heading("P", {"polymat": ("OpenBLAS",)})})
    pictures = over_size(record, "s", 1)
    assert [*pictures] == ["float64"]
    assert "grey: sizes at which a library is quicker" in pictures["float64"]
    assert_without_colour(pictures["float64"])
    assert over_size(replace(record, entries=many[:3]), "s", 1) == {}


@pytest.mark.parametrize(
    "kept", sorted(RESULTS.glob("machines/*/audit.json")), ids=lambda kept: kept.parent.name
)
def test_pictures_of_audits_are_those_of_their_figures(kept: Path) -> None:
    text = kept.with_suffix(".svg").read_text("utf-8")
    assert text == audit_picture(kept)
    assert_without_colour(text)
    assert re.search(
        r"cores, \d+-bit vectors; gcc .*; 1( thread| and 2 threads); \d{4}-\d\d-\d\d</text>", text
    )
    assert [text.count(f'"#{shape}"') > 2 for shape in ("dot", "cross")] == [True, True]


def assert_without_colour(text: str) -> None:
    for colour in re.findall(r"#([0-9a-f]{6})\b(?=[;\"])", text):
        assert colour[:2] == colour[2:4] == colour[4:], colour
