"""The page of `explain()`: well-formed, by itself, and everything in it that a reader looks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polymat as pm
from polymat.codegen.report import Report
from polymat.page.alternatives import _beside
from polymat.page.figuretext import bytes_text
from tests.page.pages import (
    Page,
    filters,
    k3mm,
    looked_up,
    measured,
    power_method,
    products,
    report_of,
    stencil_in_time,
    stencils,
    subject_of,
    transforms,
)

REPORTS = {"stencils": stencils, "products": products, "transforms": transforms}
BY_SECTIONS = {"power method": power_method, "stencil in time": stencil_in_time}
PAGES = {**REPORTS, "3mm": k3mm, "filters": filters, "looked up": looked_up, **BY_SECTIONS}
MOST_BYTES = 300_000


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    made: Report = REPORTS[request.param]()
    return made


@pytest.mark.parametrize("name", PAGES)
def test_every_element_is_closed_and_nothing_comes_from_elsewhere(name: str, tmp_path: Path) -> None:
    text = PAGES[name]().save(tmp_path / "page.html").read_text("utf-8")
    page = Page(text)
    assert not page.open
    assert len(text.encode()) < MOST_BYTES
    assert not page.all("script") + page.all("img") + page.all("iframe")
    targets = [each.get(key, "") for _, each in page.elements for key in ("href", "src")]
    assert all(target.startswith("#") or target in ("", "data:,") for target in targets)
    assert "url(http" not in text
    assert "@import" not in text


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_one_place_each(name: str) -> None:
    page = Page(PAGES[name]()._repr_html_())
    names = [each["id"] for _, each in page.elements if "id" in each]
    assert len(names) == len(set(names))
    links = [each["href"] for each in page.all("a")]
    heads = [each["marker-end"] for each in page.all("path") if "marker-end" in each]
    assert links
    assert {link[1:] for link in links} | {head[5:-1] for head in heads} <= set(names)


def test_there_is_a_card_for_every_group(report: Report) -> None:
    page = Page(report._repr_html_())
    cards = [each for each in page.all("section") if each["class"] == "card"]
    assert len(cards) == len(report.groups)
    for group in report.groups:
        assert " + ".join(group.stages) in page.text
        assert group.reason in page.text
    assert page.text.count("Limited by") == len(report.groups)
    assert page.text.count("What else there was") == len(report.groups)


def test_all_rules_are_below_one_class() -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", products()._repr_html_(), re.S)
    plain = re.sub(r"@media[^{]*\{", "", style)
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", plain)
    assert len(selectors) > 30
    assert all(".polymat-page" in each for selector in selectors for each in selector.split(","))


def test_the_alternatives_have_times() -> None:
    text = Page(products()._repr_html_()).text
    assert "calls of gemm" in text
    assert re.search(r"fused with group \d [\d.e+]+ m?s for all of them, not ", text)
    assert "not fused: each stage by itself" in Page(stencils()._repr_html_()).text


def test_the_quickest_other_way_stands_at_a_glance() -> None:
    page = products()._repr_html_()
    table = page[page.index("<table>") : page.index("</table>")]
    assert '<th class="beside">next best</th>' in table
    found = re.findall(r'<td class="beside">(.*?)</td>', table)
    assert len(found) == len(products().groups)
    told = r": (about the same|[\d.]+ times (slower|quicker)|more than 1000 times slower)$"
    assert all(re.search(told, each) for each in found)


def test_figures_that_say_nothing_more_are_not_told() -> None:
    assert _beside("x (2t = 8)", 3.0, 2.0).briefly == "x: 1.5 times slower"
    assert _beside("x", 1.0, 4.0).told == "1 s, 4 times quicker"
    assert _beside("x", 5.0, 1e-9).told == "more than 1000 times slower"
    assert _beside("x", 1.02, 1.0).briefly == "x: about the same"
    assert _beside("x", 1.0, 0.0).briefly == "x: about the same"


def test_a_reason_is_words_and_the_scheme_stands_by_itself() -> None:
    found = re.findall(r"<b>Why: </b>(.*?)</li>", products()._repr_html_())
    assert found
    assert not [each for each in found if "[" in each]
    assert "As Options(scheme=) writes it: " in Page(products()._repr_html_()).text


def test_stages_that_nobody_named_say_what_they_are() -> None:
    stages = [name for group in filters().groups for name in group.stages]
    assert {"tmp_down", "tmp_fir_7_taps", "tmp_fir_7_response", "tmp_fir_7_spectra", "out_padded"} < {*stages}


def test_what_has_no_array_is_told_where_it_is_computed() -> None:
    text = Page(stencils()._repr_html_()).text
    assert "Computed inside, without arrays:" in text
    assert re.search(r"without arrays:\s+ixx, sxx, iyy, syy, ixy, sxy, det", text)


def test_the_users_lines_stand_beside_the_c_of_their_group() -> None:
    page = Page(products()._repr_html_())
    assert 'E, F = (A @ B).named("E")' in page.text
    assert "static void _pm_nest_" in page.text
    assert '"<b>"' in page.text
    assert not page.all("b") or all("<b>" not in each.get("class", "") for each in page.all("b"))


def test_a_transform_has_no_point_in_a_roofline() -> None:
    page = Page(transforms()._repr_html_())
    assert "library call: FFTW" in page.text
    assert "It takes fewer operations than its definition has" in page.text


def test_what_is_known_of_sums_is_not_told_of_transforms_in_tiles() -> None:
    """The sums of a definition move terabytes, the transforms that stand for them do not."""
    text = filters()._repr_html_()
    assert not re.search(r"[GT]iB move out of it", text)
    tiles, whole = sizes_of("one tile", text), sizes_of("all values", text)
    assert not tiles
    assert len(whole) == 3 * len(filters().groups)


def sizes_of(what: str, page: str) -> list[str]:
    """The sizes of a page's bars of a name."""
    return re.findall(rf'<div class="bar"><span>{what}</span><b>.*?</b><span>(.*?),', page)


def test_a_tile_is_no_more_than_all() -> None:
    """Where fewer rows are expected than a tile has room for."""
    R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
    image = pm.Matrix(pm.Float, "image", [R, C])
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    inner = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 1, C - 2)]
    along = pm.Function(([i, j], inner), pm.Float, "along")
    along.defn = [image(i, j - 1) + image(i, j + 1)]
    across = pm.Function(([i, j], [pm.Interval(pm.Int, 1, R - 2), inner[1]]), pm.Float, "across")
    across.defn = [along(i - 1, j) + along(i + 1, j)]
    options = pm.Options(tile_sizes=(64, 4096))
    subject = subject_of(across, {R: 9, C: 40}, inputs=[image], options=options)
    text = report_of(subject, {R: 9, C: 40})._repr_html_()
    assert sizes_of("one tile", text) == sizes_of("all values", text) != []


def test_looking_up_is_told_in_words() -> None:
    page = Page(looked_up()._repr_html_())
    assert "the bounds of k are data, and libraries sum over sizes" in page.text
    assert "brightest: an extreme and where it is, in one pass" in page.text
    assert "Float (R + 2) × (C + 2)" in page.text
    assert "Int rows + 1" in page.text
    (operations,) = re.findall(r"([\d.]+) million operations on 7.\d+ MiB", page.text)
    assert (
        1080 * 1920 <= 1e6 * float(operations) < 1.1 * 1080 * 1920
    )  # of the extreme, no comparison of indices


def test_figures_have_three_digits_or_all_before_the_point() -> None:
    texts = [bytes_text(count) for count in (3, 1.5 * 2**10, 1022.7 * 2**20, 2**30)]
    assert texts == ["3 bytes", "1.5 KiB", "1023 MiB", "1 GiB"]


def test_measured_times_stand_beside_predictions() -> None:
    before, after = (Page(each._repr_html_()) for each in (products(), measured(products(), {"N": 300})))
    assert "measured: " not in before.text
    assert "N = 300 (as given)" in after.text
    assert sum(each.get("class") == "measured" for each in after.all("circle")) == 3
    assert not [each for each in before.all("circle") if each["class"] == "measured"]
    assert "measured: H at N 300 on 2 threads" in str(measured(products(), {"N": 300}))


def test_pages_are_the_same_each_time(report: Report) -> None:
    assert report._repr_html_() == report._repr_html_()


def test_a_report_without_levels_is_text() -> None:
    from dataclasses import replace

    alone = replace(products(), page=None)
    assert alone._repr_html_().startswith("<pre>H: ")
