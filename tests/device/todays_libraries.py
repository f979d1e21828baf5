# SPDX-License-Identifier: MIT
"""Kernels of cuBLAS and cuDNN through PyTorch, and of Triton as its tutorials write them; see todays_kernels.sh."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    row = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, row / tl.sum(row, axis=0), mask=at < columns)


@triton.jit
def matmul(a, b, c, n, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    deep = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for begin in range(0, k, DEPTH):
        left = tl.load(a + rows[:, None] * k + (begin + deep)[None, :])
        right = tl.load(b + (begin + deep)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def matmul_by_descriptors(a, b, c, k, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for begin in range(0, k, DEPTH):
        total = tl.dot(a.load([row, begin]), b.load([begin, column]), total)
    c.store([row, column], total.to(tl.float16))


def with_triton(side):
    x, y = (torch.ones(98432, device="cuda") for _ in range(2))
    add[(97,)](x, y, torch.empty_like(x), 98432, BLOCK=1024)
    wide = torch.ones(64, 781, device="cuda")
    softmax[(64,)](torch.empty_like(wide), wide, 781, BLOCK=1024)
    a, b = (torch.ones(side, side, device="cuda", dtype=torch.float16) for _ in range(2))
    c, grid = torch.empty_like(a), (side // 64, side // 64)
    matmul[grid](a, b, c, side, side, BLOCK=64, DEPTH=32, num_stages=3)
    try:
        from triton.tools.tensor_descriptor import TensorDescriptor
        left, right = TensorDescriptor.from_tensor(a, [64, 64]), TensorDescriptor.from_tensor(b, [64, 64])
        matmul_by_descriptors[grid](left, right, TensorDescriptor.from_tensor(c, [64, 64]), side, BLOCK=64, DEPTH=64,
                                    num_stages=3)
    except (ImportError, triton.CompilationError) as error:
        print("no tensor descriptors:", error)


def main():
    side = 512
    half = torch.ones(side, side, device="cuda", dtype=torch.float16)
    single = torch.ones(side, side, device="cuda")
    half @ half
    half.bfloat16() @ half.bfloat16()
    single @ single
    torch.backends.cuda.matmul.allow_tf32 = True
    single @ single
    torch.bmm(half.view(8, 64, side), half.view(8, side, 64))
    image = torch.ones(4, 64, 28, 28, device="cuda", dtype=torch.float16).to(memory_format=torch.channels_last)
    F.conv2d(image, torch.ones(64, 64, 3, 3, device="cuda", dtype=torch.float16).to(memory_format=torch.channels_last),
             padding=1)
    F.conv2d(image.float(), torch.ones(64, 64, 3, 3, device="cuda"), padding=1)
    heads = torch.ones(2, 4, 256, 64, device="cuda", dtype=torch.float16)
    F.scaled_dot_product_attention(heads, heads, heads)
    F.layer_norm(half, (side,))
    F.softmax(single, dim=1)
    with_triton(side)
    torch.cuda.synchronize()
    print("done")


main()
