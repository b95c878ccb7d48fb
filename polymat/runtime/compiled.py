"""A compiled pipeline: what the user calls, asks and saves."""

from __future__ import annotations

import inspect
import logging
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, cast

from polymat.codegen.c.abi import Signature, mark
from polymat.errors import ArgumentError, InternalError, NameClashError, PolymatError, ToolchainError
from polymat.runtime import _launch
from polymat.runtime.bind import bind_routines
from polymat.runtime.check_arrays import AnyArray, shares_memory
from polymat.runtime.check_scalars import Number
from polymat.runtime.diagnose import bind, diagnose
from polymat.runtime.foreign import adopted_arguments, with_given_outputs
from polymat.runtime.openmp import quiet_openmp
from polymat.runtime.pythontext import arrow, documentation, python_signature
from polymat.runtime.spec import launch_spec
from polymat.runtime.telling import measured, told
from polymat.runtime.threads import get_num_threads
from polymat.surface import surfaced

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # which type checkers know, installed or not

    from polymat.codegen.profile import Profile
    from polymat.lang.expr import Parameter
    from polymat.runtime.metadata import Metadata

    Result = TypeVar("Result", default=Any)
    Told = TypeVar("Told", default=Any)
else:
    from typing import TypeVar

    Result, Told = TypeVar("Result"), TypeVar("Told")

# From inputs, scalars and sizes by name to the outputs in order.
Reference = Callable[[Mapping[str, AnyArray], Mapping[str, Number], Mapping[str, int]], Sequence[AnyArray]]
# From arguments by name, sizes and the number of threads to what was measured.
Profiler = Callable[[Mapping[str, Any], Mapping[str, int], int], "Profile"]


@_launch.enable_vectorcall
class Compiled(_launch.Launcher, Generic[Result, Told]):
    """A pipeline in machine code, called with NumPy arrays.

    For type checkers: `Compiled[what a call returns, what explain() returns]`.
    Calls go straight into C.  Instances do not change and may be called from several threads at once.
    source: the program in C.  header: its prototype in C, as `save` writes it.
    """

    path: str
    signature: Signature
    source: str
    header: str
    cpu: str
    threads: int
    __name__: str
    __signature__: inspect.Signature
    _report: Any
    _reference: Reference | None
    _profiler: Profiler | None
    _profile: Profile | None
    _image: bytes
    _flags: tuple[str, ...] | None
    _packed: tuple[str, str, bytes] | None
    _copies: list[str]

    def __new__(
        cls,
        path: str | os.PathLike[str],
        signature: Signature,
        *,
        source: str = "",
        header: str = "",
        report: object = None,
        reference: Reference | None = None,
        profiler: Profiler | None = None,
        threads: int = 0,
        cpu: str = "",
        image: bytes = b"",
        flags: tuple[str, ...] | None = None,
    ) -> Compiled:
        """Open the library at `path`.

        source, header: the C text and the prototype for C programs.
        report: what `explain` returns, or what makes it when it is first asked for; its text is saved.
        reference, profiler: the interpreter, and a build with clocks; None for a pipeline from a file.
        threads: fixed, or 0 to follow `set_num_threads`.  cpu: the `native_cpu` text the code depends on.
        image: the bytes of the library, for `save`; default what is at `path`.
        flags: what the C text is compiled with besides the flags of every program; None where nobody knows.
        """
        path = os.fspath(path)
        if not os.path.isabs(path):  # a bare name would be looked for in the library path
            path = os.path.abspath(path)
        try:
            self = super().__new__(cls, path, launch_spec(signature, threads))
        except OSError as error:
            raise ToolchainError(f"cannot load the library of {signature.name}: {error}") from error
        bind_routines(path, signature)
        self.path, self.signature, self.source, self.header = path, signature, source, header
        self.threads, self.cpu = threads, cpu
        self._report, self._reference, self._image, self._flags = report, reference, image, flags
        self._packed, self._copies, self._profiler, self._profile = None, [], profiler, None
        self.__doc__ = documentation(signature)
        self.__name__ = signature.name
        self.__signature__ = python_signature(signature)
        return self

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Result: ...

    def explain(self, *, sizes: Mapping[Parameter, int] | None = None) -> Told:
        """The report of the compilation: its text for a pipeline that comes from a file, None without one.

        sizes: also tell in which way each product is computed at these sizes by each of the threads that a
        call from here would use, what it copies, its blocks and its price (`.products`); `{N: 300}`, and what
        predictions hold for where a size is not named.  It also says of which large arrays calls have had to
        make copies so far.
        """
        found = told(self._told(), self.signature.name, sizes, self._team, self._copies, self._profile)
        return cast("Told", found)

    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Measure each group of a call, which takes no `out=`; `explain()` shows it beside predictions.

        A second build with a clock between groups is called for about a third of a second, at least twice.
        Of products whose order each call chooses it has the first order.  Sections of steps are groups here.
        """
        self._profile = measured(self._profiler, self.signature, args, kwargs, self._team)
        return self._profile

    @property
    def _team(self) -> int:
        """The threads that share a call from here."""
        return self.threads or get_num_threads()

    def _told(self) -> Any:
        """The report of the compilation, made when it is first asked for."""
        if callable(self._report):
            self._report = self._report()
        return self._report

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """Run the interpreter on the arguments of a call, without `out=`; always new arrays."""
        if self._reference is None:
            raise PolymatError(
                f"{self.signature.name}: a pipeline that comes from a file has no reference",
                hint="compile it from its definition",
            )
        bound = bind(self.signature, args, kwargs)
        if any(output is not None for output in bound.outputs):
            raise PolymatError(f"{self.signature.name}: reference() returns new arrays and takes no out=")
        outputs = tuple(self._reference(bound.inputs, bound.scalars, bound.sizes))
        return outputs[0] if len(self.signature.outputs) == 1 else outputs

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write lib<name>.so, <name>.h and <name>.json, for `load`, and for pkg-config and CMake.

        overwrite: replace another program of this name, which is an `ArgumentError` otherwise.
        """
        from polymat.runtime.saved import write_saved  # imported where something is saved

        if not isinstance(directory, str | os.PathLike):
            raise ArgumentError(f"save() takes the path of a directory, got {directory!r:.60}")
        library = self._library("save")
        return write_saved(Path(directory), library, self._metadata(library), overwrite=overwrite)

    def _library(self, purpose: str) -> bytes:
        try:
            return self._image or Path(self.path).read_bytes()
        except OSError as error:
            raise ToolchainError(
                f"cannot {purpose} {self.signature.name}: its library is gone: {error}",
                hint="compile it again",
            ) from error

    def _metadata(self, library: bytes) -> Metadata:
        # Imported where something is saved or pickled: most processes compile and call.
        from polymat.runtime.metadata import Metadata
        from polymat.runtime.saved import digest

        return Metadata(
            signature=self.signature,
            sha256=digest(library),
            size=len(library),
            cpu=self.cpu,
            threads=self.threads,
            header=self.header,
            source=self.source,
            report="" if self._report is None else str(self._told()),
        )

    def __repr__(self) -> str:
        return f"<polymat {arrow(self.signature)}>"

    def __copy__(self) -> Compiled:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self

    def __reduce__(self) -> tuple[Callable[..., Compiled], tuple[str, str, bytes]]:
        """Pickle the library, what describes it and its C; `explain` of the copy returns text."""
        from polymat.runtime.travel import Parcel, packed  # imported where something is pickled

        if self._packed is None:  # a pool pickles what it calls for every task
            library = self._library("pickle")
            self._packed = packed(Parcel(self._metadata(library), library, self._flags))
        return _unpickled, self._packed

    @surfaced  # called from C, and its exception is what the user sees
    def _reconsider(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call that the launcher refused: with arrays of other libraries, or that is wrong."""
        adopted = adopted_arguments(self.signature, args, kwargs)
        if adopted is None:
            diagnose(self.signature, args, kwargs)
        positional, named = adopted
        try:
            result = self(*positional, **named)
        except ArgumentError:  # which knows what NumPy sees alone
            diagnose(self.signature, args, kwargs)
        return with_given_outputs(result, kwargs.get("out"))

    def _copied(self, index: int, array: AnyArray) -> None:
        """Hear from the launcher, once for each argument, that it copies a large one."""
        from polymat.runtime.copies import copy_text  # imported where there is something to say

        self._copies.append(copy_text(self.signature, index, array))
        logging.getLogger("polymat.runtime").info("%s(): %s", self.signature.name, self._copies[-1])

    _shares_memory = staticmethod(shares_memory)


def load(path: str | os.PathLike[str]) -> Compiled[Any, str | None]:
    """Open a saved pipeline by the path of its .json file; needs no compiler."""
    from polymat.runtime.saved import read_saved  # imported where something is loaded

    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"load() takes the path of a .json file, got {path!r:.60}")
    saved = read_saved(Path(path))
    return _opened(saved.library, saved.metadata, saved.image, str(path), "save the pipeline again")


# Of the bytes themselves, which come with every task of a pool.
@lru_cache(maxsize=8)
def _unpickled(seal: str, text: str, image: bytes) -> Compiled:
    """What `pickle.loads` calls: verify, put the library into the cache, or compile it again, and open it.

    A worker of a pool unpickles what it calls for every task: the same bytes are the same pipeline.
    """
    from polymat.runtime.travel import arrive, unpacked  # imported where something is unpickled

    parcel = unpacked(seal, text, image)
    arrival = arrive(parcel)
    what = f"the pickled {arrival.metadata.signature.name}"
    try:
        return _opened(
            arrival.path, arrival.metadata, arrival.image, what, "pickle it again", flags=parcel.flags
        )
    finally:
        if arrival.scratch is not None:
            shutil.rmtree(arrival.scratch, ignore_errors=True)


def _opened(
    library: str | Path,
    metadata: Metadata,
    image: bytes,
    what: str,
    hint: str,
    flags: tuple[str, ...] | None = None,
) -> Compiled:
    """A pipeline that was verified; what its metadata says may still make no sense."""
    if mark(metadata.signature).encode() not in image:
        raise ToolchainError(
            f"{what} is not usable: its library was compiled for other arguments than it says", hint=hint
        )
    quiet_openmp(image)
    try:
        return Compiled(
            library,
            metadata.signature,
            source=metadata.source,
            header=metadata.header,
            report=metadata.report or None,
            threads=metadata.threads,
            cpu=metadata.cpu,
            image=image,
            flags=flags,
        )
    except (InternalError, NameClashError, TypeError, ValueError) as error:
        raise ToolchainError(f"{what} is not usable: {error}", hint=hint) from error
