"""What is saved beside a library, as strict JSON: anything unexpected is refused, nothing is evaluated."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any, TypeVar

from polymat.codegen.c.abi import ABI_VERSION, PITCH, Array, Row, Scalar, Signature, Size
from polymat.dataclass import dataclass
from polymat.options import MOST_THREADS

_T = TypeVar("_T")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_MOST_ITEMS = 1 << 16
_MOST_DIMENSIONS = 64  # of NumPy's arrays
_FORMAT = "polymat 3"


class MetadataError(Exception):
    """The text is not metadata that this version reads; the message says why."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Everything a saved pipeline has besides its code.

    sha256, size: of the library file.
    cpu: the `native_cpu` text of the machine it was compiled for; empty for code that runs anywhere.
    threads: the fixed number of threads, 0 for none.
    """

    signature: Signature
    sha256: str
    size: int
    cpu: str = ""
    threads: int = 0
    header: str = ""
    source: str = ""
    report: str = ""

    @property
    def library(self) -> str:
        """The file name of the library."""
        return f"lib{self.signature.name}.so"


def to_json(metadata: Metadata) -> str:
    """The text of a .json file."""
    body = {"format": _FORMAT, "abi": ABI_VERSION, **asdict(metadata)}
    return json.dumps({**body, "checksum": _checksum(body)}, indent=1) + "\n"


def from_json(text: str) -> Metadata:
    """Read what `to_json` wrote; MetadataError for anything else."""
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MetadataError(f"not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise MetadataError(f"not a saved pipeline of format {_FORMAT!r}")
    if document.get("abi") != ABI_VERSION:
        raise MetadataError(
            f"calling convention {document.get('abi')!r}: this version of polymat has {ABI_VERSION}"
        )
    body = {key: value for key, value in document.items() if key != "checksum"}
    if document.get("checksum") != _checksum(body):
        raise MetadataError("the checksum does not match: the file was changed or damaged")
    found = _fields({key: body[key] for key in body if key not in ("format", "abi")}, Metadata)
    return Metadata(
        signature=_signature(found["signature"]),
        sha256=_text(found["sha256"]),
        size=_integer(found["size"]),
        cpu=_text(found["cpu"]),
        threads=_threads(found["threads"]),
        header=_text(found["header"]),
        source=_text(found["source"]),
        report=_text(found["report"]),
    )


def is_name(text: str) -> bool:
    """Whether a pipeline may have this name: it becomes part of file names."""
    return _NAME.fullmatch(text) is not None


def _checksum(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _signature(value: Any) -> Signature:
    found = _fields(value, Signature)
    signature = Signature(
        name=_name(found["name"]),
        inputs=_tuple(found["inputs"], _array),
        outputs=_tuple(found["outputs"], _array),
        sizes=_tuple(found["sizes"], _size),
        derived=_tuple(found["derived"], _row),
        scalars=_tuple(found["scalars"], _scalar),
        order=_tuple(found["order"], _name),
        inplace=_tuple(found["inplace"], _index_pair),
        constraints=_tuple(found["constraints"], _constraint),
        routines=_tuple(found["routines"], _name),
    )
    _check_indices(signature)
    return signature


def _check_indices(signature: Signature) -> None:
    count = len(signature.sizes) + len(signature.derived)
    arrays = signature.inputs + signature.outputs
    rows = [row for array in arrays for row in (*array.extents, *array.written_from)]
    rows += [*signature.derived, *(row for row, _ in signature.constraints)]
    for row in rows:
        if row.divisor < 1 or not all(0 <= symbol < count for symbol, _ in row.terms):
            raise MetadataError("a row is out of range")
    for size in signature.sizes:
        if (
            size.array >= len(signature.inputs)
            or (size.array >= 0 and not 0 <= size.dim < len(signature.inputs[size.array].extents))
            or size.array < PITCH
        ):
            raise MetadataError(f"size {size.name} is bound to a dimension that does not exist")
    for array in arrays:
        if len(array.extents) > _MOST_DIMENSIONS:
            raise MetadataError(f"{array.name} has {len(array.extents)} dimensions")
        if array.pitches and len(array.pitches) != len(array.extents) - 1:
            raise MetadataError(f"{array.name} has pitches of another rank")
        pitches = [symbol for symbol in array.pitches if symbol != -1]
        if not all(
            0 <= each < len(signature.sizes) and signature.sizes[each].array == PITCH for each in pitches
        ):
            raise MetadataError("a pitch is out of range")
        if len(array.written_from) not in (0, len(array.extents)):
            raise MetadataError(f"{array.name} is written in a rectangle of another rank")


def _array(value: Any) -> Array:
    found = _fields(value, Array)
    if not isinstance(found["zero_fill"], bool):
        raise MetadataError("zero_fill is not a truth value")
    if not isinstance(found["by_columns"], bool):
        raise MetadataError("by_columns is not a truth value")
    return Array(
        _name(found["name"]),
        _text(found["dtype"]),
        _tuple(found["extents"], _row),
        found["zero_fill"],
        _tuple(found["written_from"], _row),
        found["by_columns"],
        _tuple(found["pitches"], _integer),
    )


def _size(value: Any) -> Size:
    found = _fields(value, Size)
    return Size(
        _name(found["name"]), _integer(found["array"]), _integer(found["dim"]), _integer(found["least"])
    )


def _scalar(value: Any) -> Scalar:
    found = _fields(value, Scalar)
    return Scalar(_name(found["name"]), _text(found["dtype"]))


def _row(value: Any) -> Row:
    found = _fields(value, Row)
    return Row(_integer(found["const"]), _tuple(found["terms"], _index_pair), _integer(found["divisor"]))


def _constraint(value: Any) -> tuple[Row, str]:
    row, text = _pair(value)
    return _row(row), _text(text)


def _index_pair(value: Any) -> tuple[int, int]:
    first, second = _pair(value)
    return _integer(first), _integer(second)


def _pair(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise MetadataError(f"expected a pair, found {value!r:.40}")
    return value[0], value[1]


def _tuple(value: Any, element: Callable[[Any], _T]) -> tuple[_T, ...]:
    if not isinstance(value, list):
        raise MetadataError(f"expected a list, found {value!r:.40}")
    if len(value) > _MOST_ITEMS:
        raise MetadataError(f"a list of {len(value)} items: no pipeline has more than {_MOST_ITEMS}")
    return tuple(element(item) for item in value)


def _fields(value: Any, record: type[Any]) -> dict[str, Any]:
    names = [field.name for field in fields(record)]
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        raise MetadataError(f"expected a {record.__name__} with {', '.join(names)}")
    return value


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
        raise MetadataError(f"expected an integer of 64 bits, found {value!r:.40}")
    return value


def _threads(value: Any) -> int:
    number = _integer(value)
    if not 0 <= number <= MOST_THREADS:
        raise MetadataError(f"{number} threads: at most {MOST_THREADS}")
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise MetadataError(f"expected a text, found {value!r:.40}")
    return value


def _name(value: Any) -> str:
    text = _text(value)
    if not is_name(text):
        raise MetadataError(f"{text!r:.80} is not a name")
    return text
