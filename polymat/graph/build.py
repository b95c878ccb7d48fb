"""From the user's outputs to a pipeline: the first pass, whose result `verifypipeline` checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from polymat.errors import LangError, NameClashError, UndefinedError, caller_location
from polymat.graph.arguments import (
    argument_order,
    check_known,
    checked_constraints,
    checked_flag,
    fixed_sizes,
    note_unknown,
)
from polymat.graph.naming import check_call_names, check_clashes, name_sources
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray, ScalarInput, Stage
from polymat.graph.strong import components
from polymat.graph.translate import Translation
from polymat.lang.affine import Affine, computed_in
from polymat.lang.algebra import Result
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, Parameter
from polymat.lang.expressiontext import condition_text
from polymat.lang.function import CaseEntry, Function, Input
from polymat.lang.interval import size_parameters
from polymat.lang.parameterlimits import all_limits, with_limits
from polymat.lang.reduction import ReduceEntry, Reduction
from polymat.lang.sharing import written_at_most, written_size
from polymat.lang.traverse import condition_operands, loads_in, walk
from polymat.poly.domain import Domain

MAX_OPERATIONS = 50_000

_LONGEST_FORMULA = 80  # characters of it in a message


def build(
    outputs: Sequence[Function],
    *,
    inputs: Sequence[Input | Parameter] | None = None,
    sizes: Mapping[Parameter, int] | None = None,
    estimates: Collection[str] = (),
    constraints: Sequence[Condition] = (),
    trim: bool = False,
) -> Pipeline:
    """Collect everything the outputs need into frozen stages; `verify` checks the result.

    estimates: names of the parameters that there are estimates for.
    """
    groups, used = _reachable(outputs)
    functions, fixed = _checked_sizes(groups), fixed_sizes(sizes, "sizes")
    own = {condition: _formula(f) or f.label for f in functions for condition in f.requires}
    order = argument_order(inputs, used)
    arrays = [item for item in order if isinstance(item, Input)]
    given = *checked_constraints(constraints), *own
    parameters, constraints = _limited(functions, [*used, *arrays], given)
    _check_occurring(fixed, estimates, parameters, order)
    names = _checked_names(outputs, functions, arrays, parameters)
    inside = _domain_parameters(functions, arrays, constraints)
    size_names, scalars = _open_parameters(parameters, order, inside, fixed)
    translation = Translation(names, tuple(size_names), fixed)
    input_arrays = tuple(translation.input_array(array) for array in arrays)
    checked = tuple(pair for c in constraints for pair in translation.constraint(c, own.get(c, "")))
    return Pipeline(
        inputs=input_arrays,
        sizes=tuple(ScalarInput(n, parameters[n].declared) for n in size_names),
        scalars=tuple(ScalarInput(p.name, p.declared) for p in scalars),
        stages=tuple(stage for group in groups for stage in _stages(translation, group)),
        outputs=tuple(names[id(f)] for f in outputs),
        order=tuple(names[id(i)] if isinstance(i, Input) else i.name for i in order),
        context=_context(size_names, input_arrays, checked),
        constraints=checked,
        trim=checked_flag(trim, "trim"),
        formulas={names[id(f)]: formula for f in functions if (formula := _formula(f))},
        notes=_unread(order, used, parameters),
    )


def _unread(
    order: Sequence[Input | Parameter], used: Sequence[Input], parameters: Collection[str]
) -> tuple[str, ...]:
    """What `explain()` says of the arguments that `inputs=` lists and nothing needs."""
    needed = {*map(id, used)}
    lost = (item for item in order if id(item) not in needed and item.name not in parameters)
    return tuple(f"no output reads {item.name}, which inputs= lists" for item in lost)


def _stages(translation: Translation, group: Sequence[Function]) -> list[Stage]:
    stages = [translation.stage(function) for function in group]
    circle = tuple(stage.name for stage in stages) if len(stages) > 1 else ()
    return [replace(stage, circle=circle) for stage in stages] if circle else stages


def _check_occurring(
    fixed: Mapping[str, int],
    estimates: Collection[str],
    parameters: Mapping[str, Parameter],
    order: Sequence[Input | Parameter],
) -> None:
    """Sizes are given to parameters that there are, and estimates of others are noted."""
    occurring = list(dict.fromkeys([*parameters, *(p.name for p in order if isinstance(p, Parameter))]))
    check_known(fixed, occurring)
    note_unknown(estimates, occurring)


def _checked_names(
    outputs: Sequence[Function],
    functions: Sequence[Function],
    arrays: Sequence[Input],
    parameters: Mapping[str, Parameter],
) -> dict[int, str]:
    """The name of each input and function in the pipeline, none of them another one's."""
    names = name_sources(outputs, functions, arrays, parameters)
    check_clashes(names, [*arrays, *functions], [*parameters.values()])
    check_call_names(arrays, [*parameters.values()])
    return names


def reachable(outputs: Sequence[Function]) -> tuple[list[Function], list[Input]]:
    """Functions that the outputs need, producers first, and inputs in order of first use."""
    groups, inputs = _reachable(outputs)
    return [function for group in groups for function in group], inputs


def _reachable(outputs: Sequence[Function]) -> tuple[list[tuple[Function, ...]], list[Input]]:
    """The functions by circles, most of them alone."""
    groups: list[tuple[Function, ...]] = []
    inputs: list[Input] = []
    roots: list[Input | Function] = [*outputs]
    for group in components(roots, _needs):
        functions = tuple(source for source in group if isinstance(source, Function))
        groups += [functions] if functions else []
        inputs += [source for source in group if isinstance(source, Input)]
    return groups, inputs


def _needs(source: Input | Function) -> list[Input | Function]:
    return [] if isinstance(source, Input) else [each for each in _reads(source) if each is not source]


def _checked_sizes(groups: Sequence[tuple[Function, ...]]) -> list[Function]:
    """All functions; what would be written out as more C than a compiler can take is refused."""
    functions = [function for group in groups for function in group]
    for function in functions:
        values = _values(function)
        if sum(map(written_at_most, values)) <= MAX_OPERATIONS:
            continue
        size = sum(map(written_size, values))
        if size > MAX_OPERATIONS:
            raise LangError(
                f"the definition of {function.label} is too large: written out it has {size} operations",
                at=function.defined_at,
                hint=f"at most {MAX_OPERATIONS}; give parts of it names, as functions of their own",
            )
    return functions


def _values(function: Function) -> list[Expr]:
    entries = [e.value if isinstance(e, CaseEntry) else e for e in function.defn]
    values: list[Expr] = []
    for entry in entries:
        if isinstance(entry, ReduceEntry):
            values += [entry.target] if computed_in(entry.target.indices) else []
        values.append(entry.value if isinstance(entry, ReduceEntry) else entry)
    if isinstance(function, Reduction) and function.init is not None:
        values.append(function.init)  # after the operands, so that arguments come in the user's order
    return [*values, function.default] if function.default is not None else values


def _reads(function: Function) -> list[Input | Function]:
    if not function.is_defined:
        raise UndefinedError(
            f"{function.label} is used but was never given a definition",
            at=function.at,
            hint=f"{function.label}.defn = [...]",
        )
    found = [node.source for value in _values(function) for node in loads_in(value)]
    return list({id(source): source for source in found}.values())


def _conditions(function: Function) -> list[Condition]:
    return [e.condition for e in function.defn if isinstance(e, CaseEntry)]


def _nodes(function: Function) -> list[Expr]:
    roots = _values(function) + [o for c in _conditions(function) for o in condition_operands(c)]
    return [node for root in roots for node in walk(root)]


def _limited(
    functions: Sequence[Function], arrays: Sequence[Input], constraints: Sequence[Condition]
) -> tuple[dict[str, Parameter], tuple[Condition, ...]]:
    """Every parameter that occurs, and the constraints with what is declared of these."""
    parameters = _parameters(functions, arrays, constraints)
    return parameters, (*constraints, *all_limits(parameters.values()))


def _parameters(
    functions: Sequence[Function], arrays: Sequence[Input], constraints: Sequence[Condition]
) -> dict[str, Parameter]:
    """Every parameter that occurs, by name, in order of first use."""
    found: list[Parameter] = [p for array in arrays for p in array.sizes]
    for function in functions:
        found += [p for interval in function.intervals for p in interval.sizes]
        if isinstance(function, Reduction):
            found += [p for interval in function.reduction_intervals for p in interval.sizes]
        for node in _nodes(function):
            found += node.sizes if isinstance(node, Load) else []
            found += [node] if isinstance(node, Parameter) else []
    found += [
        n for c in constraints for o in condition_operands(c) for n in walk(o) if isinstance(n, Parameter)
    ]
    by_name: dict[str, Parameter] = {}
    for parameter in with_limits(found):
        known = by_name.setdefault(parameter.name, parameter)
        if known != parameter or known.limits != parameter.limits:
            raise NameClashError(
                f"two parameters are named {known.name}: {_unlike(known, parameter)}", at=parameter.at
            )
    return by_name


def _unlike(one: Parameter, other: Parameter) -> str:
    """In what two parameters of one name differ."""
    if one.declared != other.declared:
        return f"{one.declared} and {other.declared}"
    texts = [" & ".join(map(condition_text, each.limits)) or "no limits" for each in (one, other)]
    return " and ".join(texts)


def _domain_parameters(
    functions: Sequence[Function], arrays: Sequence[Input], constraints: Sequence[Condition]
) -> set[str]:
    """Names of the parameters that shapes, domains, indices or case conditions depend on."""
    found: list[Parameter] = [p for array in arrays for p in array.sizes]
    for function in functions:
        intervals = function.intervals
        if isinstance(function, Reduction):
            intervals += function.reduction_intervals
        found += [p for interval in intervals for p in interval.sizes]
        found += [p for node in _nodes(function) if isinstance(node, Load) for p in node.sizes]
        found += [p for c in _conditions(function) for p in size_parameters(*condition_operands(c))]
    found += [p for c in constraints for p in size_parameters(*condition_operands(c))]
    return {p.name for p in found if p.dtype.kind in "iu"}


def _open_parameters(
    parameters: Mapping[str, Parameter],
    order: Sequence[Input | Parameter],
    domain_names: Collection[str],
    fixed: Collection[str],
) -> tuple[list[str], list[Parameter]]:
    """Names of sizes that calls give; scalars, which occur in values alone or in the order of arguments."""
    sizes = [name for name in parameters if name in domain_names and name not in fixed]
    found = [p for p in parameters.values() if p.name not in domain_names and p.name not in fixed]
    listed = [i for i in order if isinstance(i, Parameter) and i.name not in domain_names]
    return sizes, found + [i for i in listed if i not in found]


def _context(
    size_names: Sequence[str], arrays: Sequence[InputArray], constraints: Sequence[tuple[Affine, str]]
) -> Domain:
    """Parameter values that can occur: sizes and extents are not negative, constraints hold."""
    forms = [Affine.name(n) for n in size_names]
    forms += [extent for array in arrays for extent in array.extents]
    forms += [form for form, _ in constraints]
    context = Domain.box(size_names, (), ()).at_least_zero(forms)
    if context.is_empty():
        texts = ", ".join(dict.fromkeys(text for _, text in constraints))
        raise LangError(f"no sizes meet all of these: {texts}", at=caller_location())
    return context


def _formula(function: Function) -> str:
    """The formula of a result without a name, shortened where it is long; of others nothing."""
    text = function.text if isinstance(function, Result) and function.name is None else ""
    return text if len(text) <= _LONGEST_FORMULA else f"{text[:_LONGEST_FORMULA]}..."
