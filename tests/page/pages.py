"""Pages of a few pipelines, for a machine that is stated; nothing is compiled by a C compiler."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from html.parser import HTMLParser
from typing import Any

import polymat as pm
from benchmarks.dsp import polymat_versions
from benchmarks.polybench import k3mm as k3mm_kernel
from benchmarks.stencils import harris
from benchmarks.task import Task
from polymat.codegen.explain import make_report
from polymat.codegen.explainsteps import make_stepwise_report
from polymat.codegen.profile import GroupProfile, Profile
from polymat.codegen.program import Program
from polymat.codegen.report import Report
from polymat.driver import levels, request_for
from polymat.graph.arguments import fixed_sizes
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.page.document import document
from polymat.page.subject import StepwiseSubject, Subject
from polymat.page.turns import stepwise_document
from polymat.plan.schedule import Schedule
from polymat.reporting import told
from polymat.request import Request
from tests.decide import test_skewedsteps
from tests.fixed import NARROW
from tests.hosts import StatedLibraries, as_stated

EMPTY = {"meta", "link", "br", "hr", "img"}


def compiled_levels(request: Request) -> tuple[Pipeline, Any, Program]:
    """What was built, its schedule, and its code."""
    found = {}
    for name, level in levels(request):
        found[name] = level
        if name == "codegen":
            break
    built, program = found["built"], found["codegen"]
    assert isinstance(built, Pipeline)
    assert isinstance(program, Program)
    return built, told(found["tilesize"], found["lanes"]), program


def stated_request(outputs: Any, estimates: Any, **asked: Any) -> Request:
    """A request for the stated machine."""
    request = request_for(outputs, estimates=estimates, **asked)
    return replace(request, machine=as_stated(NARROW), libraries=StatedLibraries())


def subject_of(outputs: Any, estimates: Any = None, **asked: Any) -> Subject:
    """The levels of a compilation for the stated machine."""
    request = stated_request(outputs, estimates, **asked)
    built, schedule, program = compiled_levels(request)
    assert isinstance(schedule, Schedule)
    return Subject(built, schedule, program, request)


def report_of(subject: Subject, estimates: Any = None) -> Report:
    """The report with its page."""
    return make_report(
        subject.built,
        subject.schedule,
        subject.program.signature,
        subject.program.buffers,
        fixed_sizes(estimates, "estimates"),
        {},
        page=partial(document, subject),
    )


def measured(report: Report, sizes: dict[str, int]) -> Report:
    """The report with a profile in which each group takes twice what was predicted."""
    groups = []
    for group in report.groups:
        assert group.predicted is not None
        seconds = group.predicted.seconds or 1.0
        groups.append(GroupProfile(group.stages, 2 * seconds, seconds, 1e6, 1e6))
    return replace(report, profile=Profile(report.name, tuple(groups), sizes, 2, 10))


@cache
def stencils() -> Report:
    """Harris's twelve stages, which are one group of tiles."""
    described = harris.build()
    sizes = {size: 1024 for size in described.sizes}
    subject = subject_of(described.outputs, sizes, inputs=described.inputs, name="harris")
    return report_of(subject, sizes)


@cache
def products() -> Report:
    """Three products, the last of which reads the others, and a map behind them."""
    N = pm.Parameter(pm.Int, "N")
    A, B, C, D = (pm.Matrix(pm.Double, name, [N, N]) for name in "ABCD")
    E, F = (A @ B).named("E"), (C @ D).named("F")
    less = (E @ F).named("G") * (2.0 if "<b>" else 1.0)  # what HTML would take for a tag
    subject = subject_of(less.named("H"), {N: 500}, inputs=[A, B, C, D])
    return report_of(subject, {N: 500})


@cache
def k3mm() -> Report:
    """PolyBench's 3mm, three products that are each around register blocks."""
    described = k3mm_kernel.build()
    sizes = {size: k3mm_kernel.KERNEL.sizes["LARGE"][size.name] for size in described.sizes}
    subject = subject_of(described.outputs, sizes, inputs=described.inputs, name="k3mm")
    return report_of(subject, sizes)


@cache
def transforms() -> Report:
    """A spectrum of known length, which a library computes, and its squares."""
    x = pm.Vector(pm.Double, "x", [1024])
    spectrum = pm.fft(x)
    return report_of(subject_of(pm.Abs(spectrum).named("power")))


@cache
def looked_up() -> Report:
    """A sparse matrix times a vector, and where the largest pixel of an image with a border is."""
    rows, length, count, R, C = (pm.Parameter(pm.Int, name) for name in ("rows", "length", "count", "R", "C"))
    i, k = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "k")
    row = pm.Vector(pm.Int, "row", [rows + 1], values=(0, count), sorted=True)
    column = pm.Vector(pm.Int, "column", [count], values=(0, length - 1))
    value, x = pm.Vector(pm.Double, "value", [count]), pm.Vector(pm.Double, "x", [length])
    every = pm.Interval(pm.Int, 0, rows - 1)
    between = pm.Interval(pm.Int, row(i), row(i + 1) - 1)
    y = pm.Reduction(([i], [every]), ([i, k], [every, between]), pm.Double, "y")
    y.defn = [pm.Reduce(y(i), value(k) * x(column(k)), pm.Op.Sum)]
    image = pm.Matrix(pm.Float, "image", [R + 2, C + 2])
    inputs = [row, column, value, x, image]
    estimates = {rows: 20_000, length: 20_000, count: 200_000, R: 1080, C: 1920}
    subject = subject_of([y, image.argmax().named("brightest")], estimates, inputs=inputs, name="looked_up")
    return report_of(subject, estimates)


@cache
def power_method() -> Report:
    """Forty steps of the power method and what comes behind them, which run in sections."""
    N = pm.Parameter(pm.Int, "N")
    A, start = pm.Matrix(pm.Double, "A", [N, N]), pm.Vector(pm.Double, "start", [N])

    def step(v: Any) -> Any:
        image = A @ v
        return image / pm.Sqrt(pm.dot(image, image)())

    v = pm.iterate(step, start, steps=40)
    request = stated_request(pm.dot(v, A @ v), {N: 500}, inputs=[A, start])
    built, stepwise, program = compiled_levels(request)
    assert isinstance(stepwise, Stepwise)
    page = partial(stepwise_document, StepwiseSubject(built, stepwise, program, request))
    return make_stepwise_report(built, stepwise, program.signature, {"N": 500}, {}, page)


@cache
def filters() -> Report:
    """A pipeline of eight long filters, most of which are computed by transforms."""
    described = polymat_versions.describe(Task("vuvuzela", {}, {"sizes": {"N": 600_000}}))
    return report_of(subject_of(described.outputs, inputs=described.inputs, name="vuvuzela"))


@cache
def stencil_in_time() -> Report:
    """A hundred steps of two states, which follow each other over their rows."""
    T, N, M = test_skewedsteps.T, test_skewedsteps.N, test_skewedsteps.M
    request = stated_request(test_skewedsteps.means(), {T: 100, N: 900, M: 900}, name="means")
    built, stepwise, program = compiled_levels(request)
    assert isinstance(stepwise, Stepwise)
    page = partial(stepwise_document, StepwiseSubject(built, stepwise, program, request))
    sizes = {"T": 100, "N": 900, "M": 900}
    return make_stepwise_report(built, stepwise, program.signature, sizes, {}, page)


class Page(HTMLParser):
    """The elements of a page, and whether they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]
