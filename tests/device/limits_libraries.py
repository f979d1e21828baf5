# SPDX-License-Identifier: MIT
"""Kernels of PyTorch, cuBLAS and Triton on data that is larger than the L2 cache; see limits.sh.

Each begins with a cache that holds nothing of the program's (quiet). Only these lie between cudaProfilerStart and
cudaProfilerStop. One that this PyTorch cannot run is printed and left out."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def quiet(data, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for begin in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        total += tl.load(data + begin + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total, mask=total != 0)


@triton.jit
def triton_softmax(out, x, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    row = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, row / tl.sum(row, axis=0), mask=at < columns)


@triton.jit
def triton_matmul(a, b, c, n, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    deep = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for begin in range(0, k, DEPTH):
        left = tl.load(a + rows[:, None] * k + (begin + deep)[None, :])
        right = tl.load(b + (begin + deep)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


def operations():
    """Functions that launch a kernel each, of names that differ."""
    wide = torch.ones(8192, 8192, device="cuda")
    other, out = torch.ones_like(wide), torch.empty_like(wide)
    half = torch.ones(4096, 4096, device="cuda", dtype=torch.float16)
    single = torch.ones(2048, 2048, device="cuda")
    double = torch.ones(1024, 1024, device="cuda", dtype=torch.float64)
    places = (torch.arange(65536, device="cuda") * 7919) % 8192
    rows = torch.empty(65536, 1024, device="cuda")
    narrow = torch.ones(8192, 1024, device="cuda")
    picture = torch.ones(64, 64, 112, 112, device="cuda")
    scale = torch.ones(8192, device="cuda")
    product = torch.empty_like(half)
    torch.backends.cuda.matmul.allow_tf32 = False
    return {
        "add": lambda: torch.add(wide, other, out=out),
        "sum": lambda: wide.sum(),
        "softmax": lambda: F.softmax(wide, dim=1),
        "layer_norm": lambda: F.layer_norm(wide, (8192,), scale, scale),
        "cumsum": lambda: torch.cumsum(wide, 1, out=out),
        "index_select": lambda: torch.index_select(narrow, 0, places, out=rows),
        "max_pool2d": lambda: F.max_pool2d(picture, 3, stride=2, padding=1),
        "transposed copy": lambda: out.copy_(wide.t()),
        "sgemm": lambda: single @ single,
        "hgemm": lambda: half @ half,
        "dgemm": lambda: double @ double,
        "Triton's softmax": lambda: triton_softmax[(8192,)](out, wide, 8192, BLOCK=8192, num_warps=8),
        "Triton's matmul": lambda: triton_matmul[(64, 64)](half, half, product, 4096, 4096, BLOCK=64, DEPTH=32, num_stages=3),
    }


def main():
    unused, answer = torch.zeros(40 * 1024 * 1024, device="cuda"), torch.zeros(1024 * 1024, device="cuda")

    def settle():
        quiet[(1024,)](unused, answer, unused.numel(), BLOCK=1024)
        torch.cuda.synchronize()

    settle()
    ready = {}
    for name, operation in operations().items():
        try:
            operation()
            torch.cuda.synchronize()
            ready[name] = operation
        except (RuntimeError, triton.CompilationError) as error:
            print(f"{name}: {error}", flush=True)
    torch.cuda.cudart().cudaProfilerStart()
    for operation in ready.values():
        settle()
        operation()
        torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


main()
