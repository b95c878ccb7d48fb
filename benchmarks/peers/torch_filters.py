"""Convolutions by PyTorch: layers channels last with weights reordered beforehand, and filters of signals."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.peers.array_libraries import thread_count
from benchmarks.task import MissingError, Prepared, Task

MOST_BYTES = 2 << 30
"""What a filter may take: its window of every sample may be laid out in memory."""


def prepare_conv2d(task: Task) -> Prepared:
    """`conv2d`, eager."""
    return _conv2d(task, compiled=False)


def prepare_conv2d_compiled(task: Task) -> Prepared:
    """`torch.compile` with the weights frozen, so that it may pack them."""
    return _conv2d(task, compiled=True)


def _conv2d(task: Task, *, compiled: bool) -> Prepared:
    if task.problem != "conv2d":
        raise MissingError(f"no layer {task.problem}")
    torch = torch_alone()
    stride = task.values["stride"]
    image = torch.from_numpy(task.arrays["I"]).permute(2, 0, 1)[None]
    weights = torch.from_numpy(task.arrays["P"]).permute(3, 2, 0, 1)
    weights = weights.contiguous(memory_format=torch.channels_last)
    bias = torch.from_numpy(task.arrays["bias"]) if "bias" in task.arrays else None
    model = torch.nn.Conv2d(
        weights.shape[1], weights.shape[0], weights.shape[2], stride, bias=bias is not None
    )
    model.weight.data = weights
    if bias is not None:
        model.bias.data = bias
        model = torch.nn.Sequential(model, torch.nn.ReLU())
    model = model.eval()
    if compiled:
        torch.compiler.reset()
        torch._inductor.config.freezing = True
        model = torch.compile(model, dynamic=False)
    return prepared(lambda: model(image), channels_last)


def prepare_conv1d(task: Task) -> Prepared:
    """`conv1d` with the taps reversed, which makes it a filter."""
    if task.problem != "fir":
        raise MissingError(f"no filter {task.problem}")
    columns = task.arrays["x"].nbytes * len(task.arrays["h"])
    if columns > MOST_BYTES:
        raise MissingError(f"may lay out {columns / 1e9:.0f} GB of columns")
    torch = torch_alone()
    x = torch.from_numpy(task.arrays["x"])[None, None]
    h = torch.from_numpy(np.ascontiguousarray(task.arrays["h"][::-1]))[None, None]
    step = task.values.get("down", 1)
    conv1d = torch.nn.functional.conv1d
    return prepared(lambda: conv1d(x, h, stride=step), lambda result: result[0, 0].numpy())


def torch_alone() -> Any:
    """PyTorch on this process's threads, without gradients."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(thread_count())
    torch.set_grad_enabled(False)
    return torch


def channels_last(result: Any) -> Any:
    """The one image of a batch, as NumPy has it."""
    return result[0].permute(1, 2, 0).contiguous().numpy()


def prepared(call: Callable[[], Any], convert: Callable[[Any], Any]) -> Prepared:
    """A call that is repeated, and whose result is converted once."""

    def repeat(count: int) -> float:
        begin = perf_counter()
        for _ in range(count):
            call()
        return perf_counter() - begin

    return Prepared(lambda: convert(call()), repeat=repeat)
