# SPDX-License-Identifier: MIT
"""Kernels of Triton's users: a masked sum, a row's softmax, a product of tiles, atomics, and a tuned kernel."""

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=4) for block in (256, 512, 1024)], key=["n"])
@triton.jit
def scaled(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 3, mask=at < n)


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    row = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, row / tl.sum(row, axis=0), mask=at < columns)


@triton.jit
def product(a, b, c, n, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    deep = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for begin in range(0, k, DEPTH):
        left = tl.load(a + rows[:, None] * k + (begin + deep)[None, :])
        total = tl.dot(left, tl.load(b + (begin + deep)[:, None] * n + columns[None, :]), total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + at, mask=at < n, other=0) % 16, 1, mask=at < n)


n = 100_000
x = torch.arange(n, device="cuda", dtype=torch.float32)
out, bins = torch.empty_like(x), torch.zeros(16, device="cuda", dtype=torch.int32)
scaled[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
wide = torch.ones(300, 1000, device="cuda")
softmax[(300,)](wide, wide, 1000, BLOCK=1024)
a = torch.eye(256, device="cuda", dtype=torch.float16)
c = torch.empty_like(a)
product[(4, 4)](a, a, c, 256, 256, BLOCK=64, DEPTH=32)
histogram[(triton.cdiv(n, 1024),)](torch.arange(n, device="cuda", dtype=torch.int32), bins, n, BLOCK=1024)
print(torch.equal(out, x * 3), f"{wide.sum().item():.1f}", torch.equal(a, c), bins.tolist()[:3])
