"""The page of what runs in sections: each in its turn, the repeated ones marked, a card for every group."""

from __future__ import annotations

import re
from functools import cache

import polymat as pm
from tests.page.pages import Page, power_method, stencil_in_time


@cache
def page() -> Page:
    return Page(power_method()._repr_html_())


def test_sections_stand_in_their_order_with_their_steps() -> None:
    heads = re.findall(r'<h2 id="[^"]*">(.*?)</h2>', power_method()._repr_html_())
    assert [head.partition(":")[0] for head in heads] == ["Section 1", "Section 2", "Section 3"]
    assert heads[1].endswith(", repeated 40 times, for t = 1 .. 40")
    assert heads[2].endswith(", once")
    marked = [each["class"] for each in page().all("div") if each.get("class", "").startswith("turn")]
    assert marked == ["turn steps", "turn steps", "turn"]


def test_every_group_has_its_card_and_links_lead_there() -> None:
    cards = [each["id"] for each in page().all("section")]
    assert len(cards) == len(set(cards)) == len(power_method().groups)
    names = {each["id"] for _, each in page().elements if "id" in each}
    links = {each["href"][1:] for each in page().all("a")}
    assert links <= names
    assert {*cards} <= links
    assert page().text.count("What else there was") == len(cards)


def test_a_drawing_leads_to_cards_of_its_own_section() -> None:
    for section in stencil_in_time()._repr_html_().split('<div class="turn')[1:]:
        cards = set(re.findall(r'<section class="card" id="(.*?)"', section))
        drawn = "".join(re.findall(r"<svg.*?</svg>", section, re.S))
        assert set(re.findall(r'<a href="#(.*?)"', drawn)) <= cards
        assert cards


def test_all_times_of_a_section_count() -> None:
    rows = re.findall(r"repeated 40 times, for t = 1 .. 40\s+([\d.]+) us\s+([\d.]+) ([mu]s)", page().text)
    ((once, whole, unit),) = rows
    assert abs(float(whole) * (1000 if unit == "ms" else 1) / float(once) / 40 - 1) < 0.02


def test_what_another_section_computes_is_not_computed_inside() -> None:
    first, second = page().text.split("Section 2:")
    assert "Computed inside" not in first
    assert "image = A @ v" in second


def test_arrays_that_keep_few_steps_say_so() -> None:
    assert re.search(r"tmp: 1 of 41 steps at a time, in memory until the call ends", page().text)


def test_steps_that_follow_each_other_cost_what_the_text_says_and_single_ones_more() -> None:
    report = stencil_in_time()
    said = Page(report._repr_html_()).text
    assert "follow each other over rows" in said
    ((figure, unit),) = re.findall(r"Predicted: ([\d.]+) ([mu]s) a call\. The longest is section 2", said)
    assert report.predicted.seconds is not None
    assert abs(float(figure) * (1e-3 if unit == "ms" else 1e-6) / report.predicted.seconds - 1) < 0.01
    rows = re.findall(r"each step by itself\s+[\d.]+ [mu]s, ([\d.]+) times slower", said)
    assert len(rows) == 2
    assert all(float(times) > 1.1 for times in rows)
    assert said.count("each step by itself") == 4  # of both groups, in the table of all and in their own


def test_every_card_has_the_c_of_its_group() -> None:
    text = power_method()._repr_html_()
    code = re.findall(r"<h4>The C of this group</h4><pre>(.*?)</pre>", text, re.S)
    assert len(code) == len(power_method().groups)
    assert all("static void _pm_" in each for each in code)
    assert len(set(code)) == len(code)


def test_a_compiled_program_has_this_page_of_its_own() -> None:
    N = pm.Parameter(pm.Int, "N")
    start = pm.Vector(pm.Double, "start", [N])
    unit = pm.iterate(lambda v: v / pm.Sqrt(pm.dot(v, v)()), start, steps=3)
    run = pm.compile(unit, inputs=[start], name="unit")
    assert "Section 2" in run.explain()._repr_html_()
