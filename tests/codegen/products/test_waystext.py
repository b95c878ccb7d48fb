"""The table of ways in C: its struct has the names that formulas use, and what it chooses is short."""

import re

from polymat.codegen.c.kernels import kernel
from polymat.codegen.products.waystext import choices, way_name, ways_text
from polymat.product.asked import FACTS, NUMBERS
from polymat.product.ways import Way

FIELDS = re.compile(r"^    (double|int) ([\w, ]+);$", re.MULTILINE)


def test_the_struct_has_what_formulas_ask() -> None:
    struct = kernel("products/ways").text.partition("typedef struct {")[2].partition("}")[0]
    fields = [(kind, name) for kind, names in FIELDS.findall(struct) for name in names.split(", ")]
    numbers = {name for kind, name in fields if kind == "double"} | {"place"}
    assert numbers == {each.name for each in NUMBERS}
    assert {name for kind, name in fields if kind == "int"} - {"place"} == {each.name for each in FACTS}


def test_the_header_compiles_with_the_names_of_all_ways() -> None:
    values = dict(kernel("products/ways").takes)["WAYS"]
    assert values == (", ".join(map(way_name, Way)),)


def test_names_are_declared_in_lines_that_end_with_a_comma() -> None:
    table = ways_text()
    declared = table.partition("_pm_way(")[2].partition("const int single")[0].splitlines()[2:]
    assert declared
    assert all(line.strip() == "" or line.endswith((",", ";")) for line in declared)
    assert table.count("return _PM_WAY_") == len(Way) - 1  # all but straight code, which nobody asks for


def test_conditions_of_integers_are_one_macro_each() -> None:
    for text in map(str, choices().values()):
        assert all(line.endswith("\\") for line in text.splitlines()[:-1])
