# SPDX-License-Identifier: MIT
"""A program that loads CUDA late and through libraries of its own: elementwise kernels, a sum, a matrix product, and
a CUDA graph."""

import torch

x = torch.arange(1 << 16, device="cuda", dtype=torch.float32)
y = x
for _ in range(4):
    y = torch.sin(y) * 2 + 1
product = torch.ones(256, 256, device="cuda") @ torch.ones(256, 256, device="cuda")
print(float(y.sum()), float(product[0, 0]))
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    z = x * 2 + 1
graph.replay()
torch.cuda.synchronize()
print(float(z[5]))
