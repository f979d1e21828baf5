# SPDX-License-Identifier: MIT
"""Runs the scripts of torch_on_cpu.py on a GPU, with its arguments: neither benchmarks nor measurements of configurations."""
import contextlib

import torch_on_cpu


class OnGpu(contextlib.nullcontext):
    """PyTorch's operators stay where their tensors are."""


if __name__ == "__main__":
    torch_on_cpu.OnCpu = OnGpu
    torch_on_cpu.without_machine_code = lambda: None
    torch_on_cpu.with_operators_of_every_device = lambda: None
    torch_on_cpu.main()
