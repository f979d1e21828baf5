# SPDX-License-Identifier: MIT
"""Runs a script of Triton's kernels unmodified, and computes PyTorch's own operators on the CPU: their kernels are machine
code, which the model does not execute.

    torch_on_cpu.py SCRIPT [ARGUMENT...]
    torch_on_cpu.py --call CALL... SCRIPT      not as the main program, but these calls in its names
    torch_on_cpu.py -m pytest [ARGUMENT...]

Tensors stay on the GPU: an operator's operands are copied to the CPU and its results back, with no kernel. Views, allocations
and copies of whole tensors are the GPU's. Benchmarks do not run, and autotuning takes the first configuration that it lists.
"""
import functools
import runpy
import sys

import torch
import triton
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

# Neither computes: the GPU's memory is only reserved, named or read.
KEPT = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "resize_", "set_", "record_stream",
        "_local_scalar_dense", "is_pinned", "_pin_memory", "lift_fresh", "detach", "_version"}
HALVES = {torch.float16, torch.bfloat16}


def is_of_halves(function, values):
    """True where every number is of one half precision and nothing is written."""
    kinds = {one.dtype for one in values if isinstance(one, torch.Tensor) and one.is_floating_point()}
    return (len(kinds) == 1 and kinds <= HALVES and not any(isinstance(one, torch.dtype) for one in values)
            and not function._schema.is_mutable)


def in_single_precision(function, *arguments, **keywords):
    """A GPU rounds to half precision once, at the end. The CPU adds up in half precision."""
    values, form = tree_flatten((arguments, keywords))
    half = next((one.dtype for one in values if isinstance(one, torch.Tensor) and one.dtype in HALVES), torch.float32)
    wide, wide_keywords = tree_unflatten([one.float() if isinstance(one, torch.Tensor) and one.dtype in HALVES else one
                                          for one in values], form)
    results, form = tree_flatten(function(*wide, **wide_keywords))
    return tree_unflatten([one.to(half) if isinstance(one, torch.Tensor) and one.dtype == torch.float32 else one
                           for one in results], form)


def norm(function, *arguments):
    """The same, and means and deviations stay in single precision."""
    half = arguments[0].dtype
    result, *statistics = function(*(one.float() if isinstance(one, torch.Tensor) else one for one in arguments))
    return result.to(half), *statistics


def rms_norm(_function, tensor, shape, weight, epsilon):
    """The CPU has none in one operator."""
    wide, axes = tensor.float(), tuple(range(-len(shape), 0))
    deviation = (wide.square().mean(axes, True) + (torch.finfo(tensor.dtype).eps if epsilon is None else epsilon)).rsqrt()
    result = wide * deviation if weight is None else wide * deviation * weight
    return result.to(tensor.dtype), deviation


def rms_norm_backward(_function, gradient, tensor, shape, deviation, weight, _wanted):
    axes, others = tuple(range(-len(shape), 0)), tuple(range(tensor.dim() - len(shape)))
    gradient, normed = gradient.float(), tensor.float() * deviation
    scaled = gradient if weight is None else gradient * weight
    of_tensor = deviation * (scaled - normed * (scaled * normed).mean(axes, True))
    of_weight = gradient * normed
    of_weight = None if weight is None else (of_weight.sum(others) if others else of_weight).to(weight.dtype)
    return of_tensor.to(tensor.dtype), of_weight


def softmax(function, tensor, axis, is_widened):
    """The CPU does not widen half precision meanwhile."""
    return function(tensor.float() if is_widened else tensor, axis, False)


def softmax_backward(function, gradient, result, axis, kind):
    return function(gradient, result, axis, gradient.dtype).to(kind)


# Operators that a GPU computes otherwise than the CPU.
COMPUTED_AS_ON_GPU = {
    "native_layer_norm": norm,
    "native_group_norm": norm,
    "native_layer_norm_backward": in_single_precision,
    "native_group_norm_backward": in_single_precision,
    "native_batch_norm_backward": in_single_precision,
    "_fused_rms_norm": rms_norm,
    "_fused_rms_norm_backward": rms_norm_backward,
    "_softmax": softmax,
    "_log_softmax": softmax,
    "_softmax_backward_data": softmax_backward,
    "_log_softmax_backward_data": softmax_backward,
}


def is_on_gpu(value):
    return value.device.type == "cuda" if isinstance(value, torch.Tensor) else isinstance(value, torch.device) and value.type == "cuda"


def is_view(function):
    """True where results name an operand's memory and nothing is written."""
    returns = function._schema.returns
    return bool(returns) and all(one.alias_info is not None and not one.alias_info.is_write for one in returns)


def is_whole_copy(function, arguments):
    return (function._opname == "copy_" and arguments[0].dtype == arguments[1].dtype and arguments[0].shape == arguments[1].shape
            and arguments[0].is_contiguous() and arguments[1].is_contiguous())


def bytes_of(storage):
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def named(storage, tensor):
    """A tensor of that storage with the other one's type, shape and place."""
    empty = torch.empty(0, dtype=tensor.dtype, device=storage.device)
    return empty.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())


class Operands:
    """The CPU's twins of tensors on the GPU. Tensors of one storage have twins of one storage."""

    def __init__(self):
        self._storages, self._twins = {}, []

    def twin(self, tensor):
        storage = tensor.untyped_storage()
        key = storage.data_ptr()
        if key not in self._storages:
            self._storages[key] = bytes_of(storage).cpu().untyped_storage()
        result = named(self._storages[key], tensor)
        self._twins.append((result, tensor))
        return result

    def write_back(self, tensor):
        """Copies the twin, which the operator wrote."""
        storage = tensor.untyped_storage()
        twin = next(twin for twin, one in self._twins if one is tensor)
        if twin.shape != tensor.shape:  # an operator gives an empty `out` its size
            tensor.set_(on_gpu(twin, tensor.device))
        elif storage.nbytes() > 0:
            bytes_of(storage).copy_(bytes_of(twin.untyped_storage()))

    def original(self, result):
        """The tensor whose twin that is, else None."""
        return next((tensor for twin, tensor in self._twins if twin is result), None)


def on_gpu(tensor, device):
    storage = tensor.untyped_storage()
    content = torch.empty(storage.nbytes(), dtype=torch.uint8, device=device)
    if storage.nbytes() > 0:
        content.copy_(bytes_of(storage))
    return named(content.untyped_storage(), tensor)


def written(function, arguments, keywords):
    """The tensors that the operator changes."""
    for place, argument in enumerate(function._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = keywords.get(argument.name) if argument.kwarg_only or place >= len(arguments) else arguments[place]
        yield from (one for one in tree_flatten(value)[0] if isinstance(one, torch.Tensor))


class OnCpu(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        values, form = tree_flatten((arguments, keywords))
        if not any(map(is_on_gpu, values)) or function._opname in KEPT or is_view(function) or is_whole_copy(function, arguments):
            return function(*arguments, **keywords)
        operands, first = Operands(), next(filter(is_on_gpu, values))
        device = first if isinstance(first, torch.device) else first.device
        if keywords.get("device") is not None:
            device = torch.device(keywords["device"])
        twins = [operands.twin(value) if isinstance(value, torch.Tensor) and is_on_gpu(value) else
                 torch.device("cpu") if is_on_gpu(value) else
                 None if isinstance(value, torch.Generator) and value.device.type == "cuda" else value for value in values]
        cpu_arguments, cpu_keywords = tree_unflatten(twins, form)
        same = COMPUTED_AS_ON_GPU.get(function._opname) or (in_single_precision if is_of_halves(function, twins) else None)
        compute = functools.partial(same, function) if same else function
        results = compute(*cpu_arguments, **cpu_keywords)
        for tensor in written(function, arguments, keywords):
            if is_on_gpu(tensor):
                operands.write_back(tensor)
        results, form = tree_flatten(results)
        return tree_unflatten([self._moved(one, operands, device) for one in results], form)

    @staticmethod
    def _moved(result, operands, device):
        if not isinstance(result, torch.Tensor):
            return result
        original = operands.original(result)
        if original is not None:
            return original
        return on_gpu(result, device) if device.type == "cuda" else result


def first_configuration(*_arguments, quantiles=None, **_keywords):
    """Stands for a measurement: every configuration takes as long."""
    return [1.0] * len(quantiles) if quantiles else 1.0


def without_benchmarks():
    triton.testing.do_bench = first_configuration
    triton.testing.Mark.run = lambda *_arguments, **_keywords: None
    type(triton.runtime.driver.active).get_benchmarker = lambda _driver: first_configuration


class Product:
    """Stands for cuBLAS, which a tutorial compares with: c = a · bᵀ."""

    def __init__(self, workspace):
        del workspace

    def matmul(self, a, b, c):
        c.copy_(a.float() @ b.float().T)


def without_machine_code():
    """PyTorch prints outside of every mode. Triton calls cuBLAS itself."""
    text = torch._tensor_str._str
    torch._tensor_str._str = lambda tensor, **keywords: text(Operands().twin(tensor) if is_on_gpu(tensor) else tensor, **keywords)
    triton._C.libtriton.nvidia.cublas.CublasLt = Product


def with_operators_of_every_device():
    """PyTorch chooses operators that only a GPU has."""
    torch.backends.cudnn.enabled = False
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)


def main():
    arguments, calls = sys.argv[1:], []
    while arguments[0] == "--call":
        calls.append(arguments[1])
        arguments = arguments[2:]
    without_benchmarks()
    without_machine_code()
    with_operators_of_every_device()
    with OnCpu():
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            return
        sys.argv = arguments
        names = runpy.run_path(arguments[0], run_name="script" if calls else "__main__")
        for call in calls:
            eval(call, names)  # pylint: disable=eval-used


if __name__ == "__main__":
    main()
