"""Tables for readers: polymat's time, and how many times as long others take, threads side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measure import Row
from benchmarks.records import Record
from benchmarks.report import geometric_mean, ratios, show_seconds

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """How many times as long the quickest of some peers takes."""

    title: str
    peers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What of a section is shown.

    subject: the way of calling polymat whose time is shown.  groups: of cases; all when empty.  means:
    geometric means of groups alone.  rate: whether GFLOP/s stand beside the time.  notes: whether what was
    said beside the time stands in a last column.
    """

    section: str
    subject: str
    columns: tuple[Column, ...]
    groups: tuple[str, ...] = ()
    means: bool = False
    rate: bool = False
    notes: bool = False


def all_of(record: Record, section: str) -> Table:
    """A table of every case and peer of a section, for its first way of calling polymat."""
    rivals = record.headings[section].rivals
    subject = next(iter(rivals))
    found = {peer for entry in record.entries if entry.section == section for peer in entry.row.timings}
    peers = [peer for names in rivals.values() for peer in names if peer in found]
    rate = any(entry.row.flops for entry in record.entries if entry.section == section)
    columns = tuple(Column(peer, (peer,)) for peer in dict.fromkeys(peers))
    return Table(section, subject, columns, rate=rate, notes=True)


def caption(record: Record, section: str) -> str:
    """What, on which machine, compiled by what, on how many threads, and when."""
    about = record.about
    threads = " · ".join(map(str, threads_of(record, section)))
    parts = [about["machine"], about["compiler"], f"threads {threads}", about["date"]]
    parts += [f"load {about['load']}"] if "load" in about else []
    parts += [about["rounds"]] if "rounds" in about else []
    there, planned = len(record.entries), int(about.get("cases", 0))
    parts += [f"{there} of {planned} cases so far, each number of threads one"] if there < planned else []
    return f"{record.headings[section].title}. {'; '.join(parts)}."


def left_out(record: Record, section: str) -> str:
    """Which peers have no time in which cases, and why where that is one reason; "" where all have."""
    all_rows = [entry.row for entry in record.entries if entry.section == section]
    rows = [row for row in all_rows if row.timings]
    rivals = record.headings[section].rivals
    empty = {row.case: row.notes.get("timing", "") for row in all_rows if not row.timings}
    told = [f"{case}{_reason({text})}" for case, text in empty.items()]
    for peer in dict.fromkeys([*rivals, *(name for names in rivals.values() for name in names)]):
        found = {
            row.case: row.notes.get("timing") or row.notes[peer]
            for row in rows
            if peer not in row.timings and (peer in row.notes or "timing" in row.notes)
        }
        where = "everywhere" if len(found) == len({row.case for row in rows}) else ", ".join(found)
        told += [f"{peer}, {where}{_reason(set(found.values()))}"] * bool(found)
    return f"Without a time: {'; '.join(told)}." if told else ""


def _reason(texts: set[str]) -> str:
    """The first line of what was said, in brackets, where it is one; "" otherwise."""
    first = {text.splitlines()[0] for text in texts if text}
    return f" ({first.pop()})" if len(first) == 1 else ""


def threads_of(record: Record, section: str) -> list[int]:
    """The numbers of threads that a section was measured on."""
    return sorted({entry.row.threads for entry in record.entries if entry.section == section})


def table_lines(record: Record, table: Table) -> Iterator[str]:
    """A Markdown table; cells have a figure for each number of threads, as the caption has them."""
    threads = threads_of(record, table.section)
    cases = named_rows(record, table)
    told = [peer for peer in record.headings[table.section].told if table.notes]
    heads = [_subject_title(table), *["GFLOP/s"] * table.rate, *(column.title for column in table.columns)]
    yield line(["case", *heads, *["besides"] * bool(told)])
    yield line(["---", *["---:"] * len(heads), *["---"] * bool(told)])
    if not table.means:
        for name, rows in cases.items():
            cells = [_time(rows.get(count), table.subject) for count in threads]
            rates = [_rate(rows.get(count), table.subject) for count in threads]
            times = ratio_cells(record, table, rows)
            said = [_said(rows, told)] if told else []
            yield line([name, joined(cells), *[joined(rates)] * table.rate, *times, *said])
    for group, many in _groups(cases).items():
        if len(many) > 1:
            means = [_means(record, table, many, threads, column) for column in table.columns]
            name = f"{group}, geometric mean of {len(many)}"
            yield line([name, "", *[""] * table.rate, *means, *[""] * bool(told)])


def _subject_title(table: Table) -> str:
    """Its way of calling polymat is polymat for readers; what is no such way has its own name."""
    return "polymat" if table.subject.startswith("polymat") else table.subject


def _said(rows: dict[int, Row], told: Sequence[str]) -> str:
    """What the ways of calling polymat, or peers, have to say of a case, the same thing once."""
    found = [rows[count].notes.get(peer, "") for count in sorted(rows) for peer in told]
    return " · ".join(dict.fromkeys(each for each in found if each))


def named_rows(record: Record, table: Table) -> dict[str, dict[int, Row]]:
    """The rows of a table by case and number of threads."""
    found: dict[str, dict[int, Row]] = {}
    for entry in record.entries:
        row = entry.row
        if entry.section == table.section and (not table.groups or row.group in table.groups):
            found.setdefault(row.case, {})[row.threads] = row
    return found


def _groups(cases: dict[str, dict[int, Row]]) -> dict[str, list[dict[int, Row]]]:
    found: dict[str, list[dict[int, Row]]] = {}
    for rows in cases.values():
        found.setdefault(next(iter(rows.values())).group, []).append(rows)
    return found


def ratio_cells(record: Record, table: Table, rows: dict[int, Row]) -> list[str]:
    """How many times as long each column takes, for each number of threads of the section."""
    threads = threads_of(record, table.section)
    return [
        joined([_number(_best(record, table, rows.get(count), column)) for count in threads])
        for column in table.columns
    ]


def _means(
    record: Record, table: Table, many: list[dict[int, Row]], threads: Sequence[int], column: Column
) -> str:
    found = []
    for count in threads:
        values = [_best(record, table, rows.get(count), column) for rows in many]
        found.append(_number(geometric_mean(value for value in values if not math.isnan(value))))
    return joined(found)


def _best(record: Record, table: Table, row: Row | None, column: Column) -> float:
    """How many times as long the quickest peer of a column takes; NaN where there is none."""
    if row is None:
        return math.nan
    found = ratios(row, record.headings[table.section].rivals)
    return min((found[peer] for peer in column.peers if peer in found), default=math.nan)


def _time(row: Row | None, subject: str) -> str:
    return (
        NOTHING if row is None or subject not in row.timings else show_seconds(row.timings[subject].seconds)
    )


def _rate(row: Row | None, subject: str) -> str:
    if row is None or subject not in row.timings or not row.flops:
        return NOTHING
    return f"{row.flops / row.timings[subject].seconds / 1e9:.3g}"


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.3g}" if value >= 10 else f"{value:.2f}"


def joined(cells: Sequence[str]) -> str:
    """One cell of several figures; the unit of times once, where it is the same."""
    units = {cell.partition(" ")[2] for cell in cells}
    if len(cells) > 1 and len(units) == 1 and "" not in units:
        return f"{' · '.join(cell.partition(' ')[0] for cell in cells)} {units.pop()}"
    return " · ".join(cells)


def line(cells: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"
