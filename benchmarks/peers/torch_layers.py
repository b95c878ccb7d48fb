"""Layers by PyTorch, eager: an operator and what follows it, channels last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.torch_filters import channels_last, prepared, torch_alone
from benchmarks.task import MissingError, Prepared, Task


def prepare(task: Task) -> Prepared:
    """Convolution and ReLU6, or batch normalisation and ReLU."""
    torch = torch_alone()
    calls = {"conv2d-relu6": _convolution, "bnorm-relu": _normalisation}
    if task.problem not in calls:
        raise MissingError(f"no layer {task.problem}")
    call = calls[task.problem](torch, task)

    return prepared(call, channels_last)


def _convolution(torch: Any, task: Task) -> Callable[[], Any]:
    image = torch.from_numpy(task.arrays["I"]).permute(2, 0, 1)[None]
    weights = torch.from_numpy(task.arrays["P"]).permute(3, 2, 0, 1)
    weights = weights.contiguous(memory_format=torch.channels_last)
    functional, stride = torch.nn.functional, task.values["stride"]
    return lambda: functional.relu6(functional.conv2d(image, weights, stride=stride), inplace=True)


def _normalisation(torch: Any, task: Task) -> Callable[[], Any]:
    x = torch.from_numpy(task.arrays["x"]).permute(2, 0, 1)[None]
    scale, shift = (torch.from_numpy(task.arrays[name]) for name in ("scale", "shift"))
    zero, one = torch.zeros_like(shift), torch.ones_like(scale)
    functional = torch.nn.functional
    return lambda: functional.relu(
        functional.batch_norm(x, zero, one, scale, shift, training=False, eps=0.0), inplace=True
    )
