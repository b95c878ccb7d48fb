"""Arrays that are not NumPy's: read and written where they lie, and named as what they are."""

from __future__ import annotations

import array
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.errors import ArgumentError
from polymat.runtime import foreign
from polymat.runtime.compiled import Compiled
from polymat.runtime.foreign import NoArrayError, array_of
from tests.runtime import hand_written as kernels

Doubles = npt.NDArray[np.float64]


class Interface:
    """Has `__array_interface__` alone."""

    def __init__(self, held: npt.NDArray[Any]) -> None:
        self.held = held

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.held.__array_interface__


class Told:
    """Has `__array_interface__` as an attribute of its own."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.held, self.__array_interface__ = array, array.__array_interface__


class Broken:
    """Gives no array, whoever asks."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        raise RuntimeError("resolve me first")


class ArrayMethod:
    """Has `__array__` alone, of NumPy 2."""

    def __init__(self, held: npt.NDArray[Any]) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        assert copy is False
        return self.held


class OldArrayMethod(ArrayMethod):
    """Has `__array__` alone, of NumPy 1, and gives a view."""

    def __array__(self, dtype: Any = None) -> npt.NDArray[Any]:  # type: ignore[override]
        return self.held[:]


class Packed:
    """Has DLPack alone; `device` is DLPack's number of where it says that it lies."""

    def __init__(self, held: npt.NDArray[Any], device: int = 1) -> None:
        self.held, self.device = held, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **how: Any) -> Any:
        return self.held.__dlpack__(**how)


class Computed:
    """Has `__array__`, and makes the array when it is asked."""

    def __array__(self, dtype: Any = None) -> Doubles:
        return np.ones((4, 3))


class ComputedView(Computed):
    def __array__(self, dtype: Any = None) -> Doubles:
        return np.ones((8, 3))[::2]


class Apart:
    """Refuses to be one array, as a frame of several columns does."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Doubles:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return np.ones((4, 3))


class Traced(ArrayMethod):
    """Would lose its gradient."""

    requires_grad = True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Doubles:
        raise RuntimeError("cannot call numpy() on what requires grad")


class Rounded:
    """Has elements that NumPy does not know."""

    dtype = "fake.bfloat16"

    def __array__(self) -> Doubles:
        raise TypeError("unsupported")


window: Any = memoryview  # whose argument mypy does not take arrays for
OFFERED = [Interface, Told, ArrayMethod, OldArrayMethod, Packed, window]


def counted(*shape: int) -> Doubles:
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


def address(value: npt.NDArray[Any]) -> int:
    return int(value.__array_interface__["data"][0])


@pytest.mark.parametrize("offered", OFFERED)
def test_the_memory_is_its_own(offered: Any) -> None:
    held = counted(4, 3)
    for part in (held, held[::2], held[:, ::-1], held.T, counted(0, 3)):
        if offered is window and part.size == 0:
            continue
        found = array_of(offered(part))
        assert type(found) is np.ndarray
        assert (address(found), found.shape, found.strides) == (address(part), part.shape, part.strides)


@pytest.mark.parametrize("offered", OFFERED)
def test_inputs_and_outputs(mm: Compiled, offered: Any) -> None:
    a, b, memory = counted(4, 3), counted(3, 5), np.zeros((4, 5))
    np.testing.assert_array_equal(mm(offered(a), B=offered(b)), a @ b)
    out = offered(memory)
    assert mm(offered(a), b, out=out) is out
    np.testing.assert_array_equal(memory, a @ b)
    strided = np.zeros((8, 10))
    out = offered(strided[::2, ::-2])
    assert mm(a, b, out=(out,)) is out
    np.testing.assert_array_equal(strided[::2, ::-2], a @ b)
    assert not strided[1::2].any()


def test_scalars_stay_what_they_are(axpy: Compiled) -> None:
    x = array.array("d", [1, 2, 3])
    y = window(array.array("d", [10, 20, 30]))
    np.testing.assert_array_equal(axpy(2.0, x, y), [12, 24, 36])
    assert axpy(2.0, x, Y=y, out=x) is x
    assert x.tolist() == [12, 24, 36]
    with pytest.raises(ArgumentError, match="argument alpha is"):
        axpy(x, x, y)


def test_some_of_several_outputs(both: Compiled) -> None:
    x, y = counted(3), 2 * counted(3)
    given = array.array("d", [0, 0, 0])
    total, difference = both(x, y, out=(given, None))
    assert total is given
    assert given.tolist() == (x + y).tolist()
    assert type(difference) is np.ndarray


def test_reference_takes_them(directory: Path) -> None:
    mm = kernels.mm(directory, reference=lambda arrays, scalars, sizes: [arrays["A"] @ arrays["B"]])
    a, b = counted(4, 3), counted(3, 5)
    np.testing.assert_array_equal(mm.reference(ArrayMethod(a), window(b)), a @ b)


def refused(text: str, call: Compiled, *args: Any, **kwargs: Any) -> None:
    with pytest.raises(ArgumentError, match=f"^{re.escape(text)}") as caught:
        call(*args, **kwargs)
    assert caught.value.__cause__ is None


def test_wrong_ones_are_named_as_what_they_are(mm: Compiled, axpy: Compiled) -> None:
    a, b = counted(4, 3), counted(3, 5)
    hint = "\nhint: np.asarray(A, dtype=np.float64)"
    refused("mm(): argument A is a memoryview of uint8: expected float64" + hint, mm, window(b"1"), b)
    refused("mm(): argument A is an array.array of float32: expected float64", mm, array.array("f"), b)
    refused("mm(): argument A, an array.array, has 1 dimension, shape (2,)", mm, array.array("d", [1, 2]), b)
    refused("mm(): argument B, a memoryview, has shape (4, 3): expected dimension 0", mm, a, window(a))
    text = "mm(): argument out is a tests.Interface of int64: expected float64\nhint: np.empty((4, 5), "
    refused(text, mm, a, b, out=Interface(np.zeros((4, 5), dtype=np.int64)))
    refused("mm(): argument out, a memoryview, has shape (4, 3)", mm, a, b, out=window(a.copy()))
    locked = np.zeros((4, 5))
    locked.flags.writeable = False
    refused("mm(): argument out, a memoryview, is read-only", mm, a, b, out=window(locked))
    refused("axpy(): argument X is a bytes of uint8: expected float64", axpy, 1.0, b"12345678", b[0])


def test_overlaps_are_found_by_address(axpy: Compiled) -> None:
    memory = counted(8)
    refused(
        "axpy(): argument out shares memory with X",
        axpy, 1.0, window(memory[:4]), counted(4), out=ArrayMethod(memory[1:5]),
    )  # fmt: skip
    np.testing.assert_array_equal(memory, counted(8))


@pytest.mark.parametrize(
    ("number", "name"), [(2, "CUDA"), (4, "OpenCL"), (7, "Vulkan"), (8, "Metal"), (10, "ROCm")]
)
def test_other_memory_has_the_name_of_its_device(mm: Compiled, number: int, name: str) -> None:
    """The numbers are those of DLPack's header."""
    where = f"mm(): argument A is a tests.Packed on {name}, not in the memory"
    refused(where, mm, Packed(counted(4, 3), number), counted(3, 5))


def test_what_cannot_be_read_where_it_lies(mm: Compiled) -> None:
    a, b = counted(4, 3), counted(3, 5)
    wanted = ": expected a numpy.ndarray of float64, shape (M, K)"
    start = "mm(): argument A is a tests."
    where = "on CUDA, not in the memory of the processor"
    refused(f"{start}Packed {where}{wanted}\nhint: A.cpu()", mm, Packed(a, 2), b)
    refused(f"{start}Packed on DLPack's device 99, not in", mm, Packed(a, 99), b)
    why = "that requires grad, of which a call would know nothing"
    refused(f"{start}Traced {why}{wanted}\nhint: A.detach()", mm, Traced(a), b)
    refused(f"{start}Rounded of bfloat16: expected float64\nhint: np.asarray(A", mm, Rounded(), b)
    for computed in (Computed, ComputedView):
        why = "whose numbers lie in no array: they would have to be computed or copied"
        refused(f"{start}{computed.__name__} {why}{wanted}\nhint: np.asarray(A", mm, computed(), b)
    why = "whose numbers do not lie in one array: they would have to be copied"
    refused(f"{start}Apart {why}", mm, Apart(), b)
    refused("mm(): argument out is a tests.Apart whose numbers", mm, a, b, out=Apart())
    refused(f"{start}Broken that gives no array: resolve me first{wanted}", mm, Broken(), b)
    with pytest.raises(ArgumentError) as caught:
        mm(Broken(), b)
    assert "hint" not in str(caught.value)  # np.asarray would say the same
    parts = "hint: A.real or abs(A), as float64, which has no room for imaginary parts"
    refused(
        f"mm(): argument A is a memoryview of complex128: expected float64\n{parts}", mm, window(a * 1j), b
    )


def test_numbers_and_classes_are_no_arrays(mm: Compiled) -> None:
    b = counted(3, 5)
    for value in (1.0, np.float64(1), True, "text", [[1.0]], np.ndarray, object()):
        refused(f"mm(): argument A is of type {type(value).__name__}: expected", mm, value, b)


def test_pinned_memory_is_the_processors() -> None:
    held = counted(3)
    assert address(array_of(Packed(held))) == address(held)
    with pytest.raises(NoArrayError, match="on Metal"):
        array_of(Packed(held, 8))


def test_torch(mm: Compiled) -> None:
    torch: Any = pytest.importorskip("torch")
    a, b = torch.arange(12.0, dtype=torch.float64).reshape(4, 3), torch.ones(3, 5, dtype=torch.float64)
    out = torch.zeros(4, 5, dtype=torch.float64)
    at = out.data_ptr()
    assert mm(a, b, out=out) is out
    assert out.data_ptr() == at
    assert torch.equal(out, a @ b)
    np.testing.assert_array_equal(mm(a.T.contiguous().T, b[:, ::2]), (a @ b[:, ::2]).numpy())
    assert address(array_of(a)) == a.data_ptr()
    refused("mm(): argument A is a torch.Tensor of float32: expected float64", mm, a.float(), b)
    refused("mm(): argument A is a torch.Tensor of bfloat16: expected float64", mm, a.bfloat16(), b)
    traced = a.clone().requires_grad_()
    with pytest.raises(
        ArgumentError, match=r"is a torch.Tensor that requires grad[^\n]*\nhint: A.detach\(\)"
    ):
        mm(traced, b)
    np.testing.assert_array_equal(mm(traced.detach(), b), (a @ b).numpy())
    refused("mm(): argument A is a torch.Tensor that gives no array: ", mm, a.to_sparse(), b)


def test_jax(mm: Compiled) -> None:
    jax: Any = pytest.importorskip("jax")
    single: Any = kernels.single(Path(mm.path).parent)
    x = jax.numpy.arange(6, dtype="float32")
    np.testing.assert_array_equal(single(x), 2 * np.arange(6, dtype=np.float32))
    assert address(array_of(x)) == x.unsafe_buffer_pointer()
    refused("single(): argument out, a jaxlib.ArrayImpl, is read-only", single, x, out=x)
    refused(
        "single(): argument X is a jaxlib.ArrayImpl of bfloat16: expected float32",
        single,
        x.astype("bfloat16"),
    )


def test_pandas(axpy: Compiled, mm: Compiled) -> None:
    pandas: Any = pytest.importorskip("pandas")
    frame = pandas.DataFrame(counted(4, 3), columns=list("abc"))
    np.testing.assert_array_equal(axpy(2.0, frame["a"], frame["b"]), 2 * frame["a"] + frame["b"])
    np.testing.assert_array_equal(mm(frame, np.eye(3)), counted(4, 3))
    assert address(array_of(frame["a"])) == address(frame["a"].to_numpy())
    refused(
        "axpy(): argument X is a pandas.Series of int64: expected float64", axpy, 1.0, pandas.Series([1]), [1]
    )
    frame["d"] = 1.0
    refused(
        "mm(): argument A is a pandas.DataFrame whose numbers do not lie in one array", mm, frame, np.eye(4)
    )


def test_xarray(mm: Compiled) -> None:
    xarray: Any = pytest.importorskip("xarray")
    a, out = xarray.DataArray(counted(4, 3)), xarray.DataArray(np.zeros((4, 5)))
    memory = out.values
    assert mm(a, xarray.DataArray(np.ones((3, 5))), out=out) is out
    np.testing.assert_array_equal(memory, counted(4, 3) @ np.ones((3, 5)))
    assert address(array_of(a)) == address(a.values)


@pytest.mark.filterwarnings("ignore")
def test_dask_arrays_are_not_computed_in_passing(mm: Compiled) -> None:
    arrays: Any = pytest.importorskip("dask.array")
    with pytest.raises(ArgumentError, match=r"is a dask.Array whose numbers lie in no array"):
        mm(arrays.ones((4, 3)), counted(3, 5))


def test_nothing_of_others_is_imported() -> None:
    source = Path(foreign.__file__).read_text(encoding="utf-8")
    assert not re.search(r"^\s*(import|from) (torch|jax|pandas|xarray)", source, re.M)
