"""The command line, `polymat` or `python -m polymat`: `explain|compile|dump FILE.py[:name]` and others."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import polymat
from polymat import benchcommand
from polymat.cachecommand import add_cache_arguments, cache_lines
from polymat.driver import request_for, request_of
from polymat.dump import DUMPED, LEVELS, after, difference, pass_lines
from polymat.errors import ArgumentError, PolymatError
from polymat.graph.graphviz import to_dot
from polymat.graph.pipeline import Pipeline
from polymat.measuring.blastimes import calibrate_library
from polymat.measuring.fft import calibrate_fft
from polymat.measuring.measuremachine import calibrate, calibrate_again
from polymat.measuring.timedproducts import LONG, keep_products
from polymat.request import Request
from polymat.runtime.calibration import calibration_lines, calibration_path, stored_calibration
from polymat.runtime.compiled import Compiled
from polymat.runtime.doctor import Finding, examine, findings
from polymat.runtime.librarystore import library_model, model_lines
from polymat.runtime.logs import configure_logging
from polymat.runtime.settings import settings
from polymat.runtime.target import ProgramError, Target, UsageError, load_arguments, load_target
from polymat.selftest import self_test
from polymat.tunecommand import add_arguments, tune_lines

_OK, _FAILED, _USAGE, _INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0, 1 for a program or machine that is wrong, 2 for wrong usage."""
    asked = _parser().parse_args(arguments)
    try:
        configure_logging()
        status: int = asked.run(asked)
        if sys.stdout is not None:  # it is closed: `>&-`
            sys.stdout.flush()
        return status
    except UsageError as error:
        print(error, file=sys.stderr)
        return _USAGE
    except PolymatError as error:
        print(error, file=sys.stderr)
        return _FAILED
    except ProgramError as error:
        return _report_program(error)
    except BrokenPipeError:  # the reader, head say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _OK
    except KeyboardInterrupt:
        return _INTERRUPTED


_TARGET = "a file and a name in it: a function, a list of outputs, a Compiled or a function that returns one"
_INPUTS = "the arguments of a call, by name"
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_program(), description=_first_line(polymat.__doc__))
    parser.add_argument("--version", action="version", version=f"polymat {polymat.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    explain = commands.add_parser("explain", help="say what was decided and why")
    explain.add_argument("target", metavar="FILE.py[:name]", help=_TARGET)
    explain.add_argument("--html", metavar="FILE", help="write the report as a page instead")
    explain.set_defaults(run=_explain)

    save = commands.add_parser("compile", help="write lib<name>.so, <name>.h and <name>.json")
    save.add_argument("target", metavar="FILE.py[:name]", help=_TARGET)
    save.add_argument("-o", "--output", metavar="DIR", required=True, help="the directory to write to")
    save.set_defaults(run=_compile)

    _add_finding(commands)
    _add_machine(commands)
    return parser


def _add_finding(commands: _Commands) -> None:
    """Commands that look into a compilation."""
    dump = commands.add_parser("dump", help="print one level of the compilation, or what a pass does")
    dump.add_argument("target", metavar="FILE.py[:name]", nargs="?", help=_TARGET)
    shown = dump.add_mutually_exclusive_group()
    shown.add_argument("--until", choices=LEVELS, help="the level (default: source)")
    shown.add_argument("--after", choices=DUMPED, metavar="PASS", help="what a pass gives")
    shown.add_argument("--diff", choices=DUMPED, metavar="PASS", help="what a pass changes")
    shown.add_argument("--list", action="store_true", help="the passes, in order (needs no file)")
    dump.add_argument("--dot", action="store_true", help="the graph for Graphviz (default level: graph)")
    dump.set_defaults(run=_dump)

    search = commands.add_parser("bisect", help="find the pass that makes numbers wrong")
    search.add_argument("target", metavar="FILE.py[:name]", help=_TARGET)
    search.add_argument("--inputs", metavar="FILE.npz", required=True, help=_INPUTS)
    search.add_argument("--tolerance", type=float, help="of the largest element (default: half the digits)")
    search.set_defaults(run=_bisect)

    measured = commands.add_parser("audit", help="measure each group, and the plans that it might have had")
    measured.add_argument("target", metavar="FILE.py[:name]", help=_TARGET)
    measured.add_argument("--inputs", metavar="FILE.npz", required=True, help=_INPUTS)
    measured.add_argument("--threads", type=int, default=1, help="that share the work (default: 1)")
    measured.add_argument("--json", metavar="FILE", help="write the figures there, too")
    measured.set_defaults(run=_audit)

    tune = commands.add_parser("tune", help="try other ways for some time, and keep the quickest")
    add_arguments(tune, _TARGET, _INPUTS)
    tune.set_defaults(run=_tune)
    benchcommand.add_to(commands)


def _add_machine(commands: _Commands) -> None:
    """Commands about this machine and what is kept on it."""
    calibrate = commands.add_parser("calibrate", help="measure this machine, once, in a minute")
    calibrate.add_argument("--force", action="store_true", help="measure although it was done before")
    calibrate.set_defaults(run=_calibrate)

    cache = commands.add_parser("cache", help="show the store of compiled libraries, or empty it")
    add_cache_arguments(cache)
    cache.set_defaults(run=_cache)

    doctor = commands.add_parser("doctor", help="show the machine, the compiler and the libraries found")
    doctor.set_defaults(run=_doctor)


def _program() -> str:
    """How this was called: the command `polymat`, or the module."""
    return "polymat" if os.path.basename(sys.argv[0]) == "polymat" else "python -m polymat"


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]


def _explain(asked: argparse.Namespace) -> int:
    report = _compiled(load_target(asked.target)).explain()
    if asked.html is None:
        print("there is no report" if report is None else report)
    elif hasattr(report, "save"):
        print(report.save(asked.html))
    else:
        raise UsageError(f"{asked.target} was loaded from a file: its report is only a text")
    return _OK


def _compile(asked: argparse.Namespace) -> int:
    print(_compiled(load_target(asked.target)).save(asked.output))
    return _OK


def _compiled(target: Target) -> Compiled:
    if target.compiled is not None:
        return target.compiled
    _check_keywords(target.keywords)
    return polymat.compile(**target.keywords)


def _check_keywords(keywords: Mapping[str, Any]) -> None:
    known = inspect.signature(polymat.compile).parameters
    for word in keywords:
        if word not in known:
            raise UsageError(f"compile() takes no {word!r}", hint=f"it takes {', '.join(known)}")


def _dump(asked: argparse.Namespace) -> int:
    if asked.list:
        print("\n".join(pass_lines()))
        return _OK
    if asked.target is None:
        raise UsageError("dump needs a file", hint="dump FILE.py[:name], or dump --list for the passes")
    target = load_target(asked.target)
    wanted = asked.diff or asked.after or asked.until or ("graph" if asked.dot else "source")
    if asked.dot and wanted not in ("built", "graph"):
        raise UsageError(f"--dot shows a graph, and {wanted} is none", hint="--until built or --until graph")
    if target.compiled is not None:
        if wanted != "source" or not target.compiled.source:
            raise UsageError(
                f"{asked.target} is compiled already: its {wanted} is gone", hint="name what it was made of"
            )
        print(target.compiled.source)
        return _OK
    request = _request(target)
    if asked.diff:
        print(difference(request, asked.diff))
        return _OK
    level = after(request, wanted)
    print(to_dot(level) if asked.dot and isinstance(level, Pipeline) else level)
    return _OK


def _request(target: Target) -> Request:
    """What the arguments of `compile()` that a target stands for ask for."""
    _check_keywords(target.keywords)
    return request_for(**target.keywords)


def _uncompiled(spec: str) -> Request:
    """What a target stands for that is not compiled yet."""
    target = load_target(spec)
    if target.compiled is not None:
        raise UsageError(f"{spec} is compiled already", hint="name what it was made of")
    return _request(target)


def _bisect(asked: argparse.Namespace) -> int:
    from polymat.bisect import bisect  # with the interpreter, which nothing else here needs

    request, arguments = _uncompiled(asked.target), load_arguments(asked.inputs)
    try:
        found = bisect(request, arguments, tolerance=asked.tolerance)
    except ArgumentError as error:
        raise UsageError(error.message, hint=error.hint) from error
    print(found.text)
    return _OK if found.at_fault is None else _FAILED


def _audit(asked: argparse.Namespace) -> int:
    # With the interpreter, as above.
    from polymat.audit.audited import summary_line, table_lines, write_json
    from polymat.audit.auditor import audit
    from polymat.audit.drift import since_calibration

    request, arguments = _uncompiled(asked.target), load_arguments(asked.inputs)
    try:
        found = audit(request, arguments, threads=asked.threads)
    except ArgumentError as error:
        raise UsageError(error.message, hint=error.hint) from error
    print("\n".join([*table_lines(found), since_calibration(), summary_line(found)]))
    if asked.json is not None:
        write_json(asked.json, found)
    return _FAILED if any(group.wrong for group in found) else _OK


def _tune(asked: argparse.Namespace) -> int:
    target = load_target(asked.target)
    request = _request(target) if target.compiled is None else request_of(target.compiled)
    print("\n".join(tune_lines(asked, request)))
    return _OK


def _calibrate(asked: argparse.Namespace) -> int:
    progress = _progress if sys.stderr and sys.stderr.isatty() else None
    measured = calibrate(force=asked.force, progress=progress)
    blas = calibrate_library(force=asked.force, progress=progress)
    keep_products(LONG, force=asked.force, progress=progress)
    fft = calibrate_fft(force=asked.force)
    if measured.passes < 2:
        measured = calibrate_again(measured, progress=progress)
        keep_products(LONG, again=True, progress=progress)
    stored = stored_calibration()
    models = [model_lines(model) for model in (library_model() or blas, fft) if model is not None]
    print("\n".join(line for lines in (calibration_lines(stored or measured), *models) for line in lines))
    print(f"kept in {calibration_path()}" if stored else f"not kept: POLYMAT_CACHE={settings().cache}")
    return _OK


def _progress(done: float) -> None:
    """Rewrite one line of the terminal, and take it away at the end."""
    text = f"calibrating {done:4.0%}" if done < 1.0 else " " * 16
    print(f"\r{text}", end="\r" if done >= 1.0 else "", file=sys.stderr, flush=True)


def _cache(asked: argparse.Namespace) -> int:
    print("\n".join(cache_lines(asked)))
    return _OK


def _doctor(asked: argparse.Namespace) -> int:
    version = Finding("polymat", polymat.__version__)
    found = (version, *findings(), examine("self-test", self_test))
    for finding in found:
        indented = finding.text.replace("\n", "\n" + " " * 12)
        print(f"{finding.topic:<11} {'' if finding.ok else 'error: '}{indented}")
    return _OK if all(finding.ok for finding in found) else _FAILED


def _report_program(error: ProgramError) -> int:
    """Show what the user's own file raised, from its own first line on."""
    cause = error.__cause__ or error
    if isinstance(cause, SystemExit):
        print(f"{error} ended with sys.exit({cause.code!r})", file=sys.stderr)
        return _FAILED
    frames = cause.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__", "").startswith("polymat."):
        frames = frames.tb_next
    traceback.print_exception(type(cause), cause, frames)
    return _FAILED
