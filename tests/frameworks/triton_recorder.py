# SPDX-License-Identifier: MIT
"""Records each launch of a Triton kernel: PTX, geometry, arguments, and the memory of its tensors before and after. With
it a kernel runs again without Triton and PyTorch.

The recording is JSON, compressed with xz:

    {"triton": VERSION, "device": NAME,
     "codes": [{"ptx": text, "cubin": base64}], "bytes": {DIGEST: base64},
     "launches": [{"script", "order", "kernel", "code", "grid", "block", "cluster", "shared", "scratch", "cooperative",
                   "tensors": [{"type", "size", "before", "after"}],
                   "arguments": [{"tensor", "offset"} | {"type", "value"} | {"tensor", "offset", "map"}]}]}

`order` counts the script's launches from 0. `before` is null for memory that nothing has set, `after` where the launch changed nothing. `offset` is in bytes.
`scratch` has the bytes of Triton's two hidden arguments.
"""
import base64
import hashlib
import json
import lzma
import math

import torch
import triton
from torch.utils._python_dispatch import _disable_current_modes
from triton.backends.nvidia.driver import CudaLauncher
from triton.compiler.compiler import CompiledKernel


def bytes_of(tensor):
    """All memory of the tensor's storage."""
    storage = tensor.untyped_storage()
    return torch.tensor([], dtype=torch.uint8, device=tensor.device).set_(storage).cpu().numpy().tobytes()


def flat(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flat(value)
        else:
            yield value


def remember_unset(function):
    """Marks the tensors that `function` makes: their memory is unset until PyTorch or a kernel writes."""
    def made(*arguments, **keywords):
        tensor = function(*arguments, **keywords)
        tensor.unset = state_of(tensor)
        return tensor
    return made


def state_of(tensor):
    return tensor.untyped_storage().data_ptr(), tensor._version


class Recorder:
    """`once`: of launches of one code the first whose memory is no more than `most_bytes`. With such a bound unset memory is
    recorded too: a kernel may write a part of it."""

    def __init__(self, once=False, most_bytes=math.inf):
        self._kernels, self._codes, self._bytes, self._launches, self._script = {}, [], {}, [], ""
        self._once, self._most_bytes, self._order, self._seen = once, most_bytes, 0, set()
        torch.empty, torch.empty_like = remember_unset(torch.empty), remember_unset(torch.empty_like)
        load, launch, recorder = CompiledKernel._init_handles, CudaLauncher.__call__, self

        def load_and_remember(kernel):
            load(kernel)
            recorder._kernels[kernel.function] = kernel

        def record_and_launch(launcher, x, y, z, stream, function, *arguments):
            entry = recorder._before_if_wanted(function, (x, y, z), arguments[4:])
            launch(launcher, x, y, z, stream, function, *arguments)
            if entry is not None:
                recorder._after(entry)

        CompiledKernel._init_handles, CudaLauncher.__call__ = load_and_remember, record_and_launch

    def begin(self, script):
        self._script, self._order = script, 0

    def _keep(self, content):
        digest = hashlib.sha256(content).hexdigest()[:16]
        self._bytes.setdefault(digest, base64.b64encode(content).decode())
        return digest

    def _before_if_wanted(self, function, grid, values):
        self._order += 1
        tensors = [getattr(value, "base", value) for value in flat(values) if hasattr(getattr(value, "base", value), "data_ptr")]
        storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
        if sum(storages.values()) > self._most_bytes or self._once and function in self._seen:
            return None
        self._seen.add(function)
        with _disable_current_modes():
            return self._before(function, grid, values)

    def _before(self, function, grid, values):
        kernel = self._kernels[function]
        metadata = kernel.metadata
        code = {"ptx": kernel.asm["ptx"], "cubin": base64.b64encode(kernel.asm["cubin"]).decode()}
        if code not in self._codes:
            self._codes.append(code)
        ctas = getattr(metadata, "num_ctas", 1)
        blocks = grid[0] * grid[1] * grid[2] * ctas
        entry = {
            "script": self._script, "order": self._order - 1, "kernel": kernel.name, "code": self._codes.index(code),
            "grid": [grid[0] * ctas, *grid[1:]], "block": 32 * metadata.num_warps, "cluster": ctas,
            "shared": metadata.shared, "scratch": [blocks * metadata.global_scratch_size, blocks * metadata.profile_scratch_size],
            "cooperative": metadata.launch_cooperative_grid, "tensors": [], "arguments": [],
        }
        storages, maps = {}, iter(getattr(metadata, "tensordesc_meta", None) or [])
        for kind, value in zip(flat(kernel.src.signature.values()), flat(values)):
            if kind == "constexpr":
                continue
            if kind.startswith("tensordesc"):
                meta = next(maps, None)
                place = self._place(entry, storages, value.base)
                entry["arguments"].append({**place, "map": {
                    "meta": meta, "shape": list(value.shape), "strides": list(value.strides), "padding": value.padding}})
            elif hasattr(value, "data_ptr"):
                entry["arguments"].append(self._place(entry, storages, getattr(value, "base", value)))
            else:
                entry["arguments"].append({"type": kind, "value": value})
        return entry, storages

    def _place(self, entry, storages, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in storages:
            storages[storage.data_ptr()] = (len(storages), tensor)
            is_unset = getattr(tensor, "unset", None) == state_of(tensor)
            before = None if is_unset and self._most_bytes == math.inf else self._keep(bytes_of(tensor))
            entry["tensors"].append({"type": str(tensor.dtype).removeprefix("torch."), "size": storage.nbytes(), "before": before})
        return {"tensor": storages[storage.data_ptr()][0], "offset": tensor.data_ptr() - storage.data_ptr()}

    def _after(self, recorded):
        entry, storages = recorded
        for index, tensor in storages.values():
            tensor.unset = None
            with _disable_current_modes():
                after = self._keep(bytes_of(tensor))
            entry["tensors"][index]["after"] = None if after == entry["tensors"][index]["before"] else after
        self._launches.append(entry)

    def write(self, path):
        recording = {"triton": triton.__version__, "device": torch.cuda.get_device_name(),
                     "codes": self._codes, "bytes": self._bytes, "launches": self._launches}
        with lzma.open(path, "wt", encoding="utf-8") as file:
            json.dump(recording, file)
