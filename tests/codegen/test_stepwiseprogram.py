"""Programs of sections: which functions are compiled by themselves, what is said of sections within."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.npbench import find_program
from polymat import Options
from polymat.codegen import units
from polymat.codegen.c.ctree import APART, CFunction, For
from polymat.codegen.c.scopes import every
from polymat.codegen.program import Program
from tests.eliminations import M, R, factoring
from tests.fixed import NARROW, compiled_levels, report_text

ESTIMATES = {R: 300, M: 200}


def nests_of(*skip: str) -> tuple[Program, list[CFunction]]:
    """A factorisation with row exchanges, and its functions with loops over elements."""
    output, inputs = factoring()
    found = compiled_levels(output, inputs=inputs, estimates=ESTIMATES, options=Options(skip=skip))
    program = found["codegen"]
    assert isinstance(program, Program)
    computing = [each for each in program.file.functions if "void" in each.returns and not each.runs_others]
    loops = [each for each in computing if any(isinstance(part, For) for part in every(each.body))]
    return program, [each for each in loops if "_part" not in each.name]


def test_the_loops_of_many_sections_are_compiled_by_themselves_as_two_files() -> None:
    """Blocks of linear steps: their sections, and those of the steps before and behind the blocks."""
    program, nests = nests_of()
    assert len(nests) >= units.LEAST_FUNCTIONS
    assert {each.returns for each in nests} == {APART}
    first, second = units.split(program.file)
    gone = {each.name for each in second.functions}
    assert any(each.name in gone for each in nests)
    assert any(each.name not in gone for each in nests)
    assert "_pm_entry" in {each.name for each in first.functions}


def test_the_loops_of_few_sections_stay_in_what_runs_the_steps() -> None:
    program, nests = nests_of("linear")
    assert 0 < len(nests) < units.LEAST_FUNCTIONS
    assert APART not in {each.returns for each in nests}
    assert len(units.split(program.file)) == 1


def test_explain_says_of_slices_that_their_steps_run_in_blocks() -> None:
    """Each system of a batch is eliminated by sections within one over the systems."""
    program = find_program("contour_integral")
    described = program.build()
    estimates = {size: program.sizes["M"][size.name] for size in described.sizes}
    text = report_text(
        list(described.outputs),
        inputs=list(described.inputs),
        constraints=described.constraints,
        machine=replace(NARROW, cores=1),
        estimates=estimates,
        options=Options(threads=1),
    )
    assert "after_steps in blocks of 31 steps: " in text
