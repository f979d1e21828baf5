# SPDX-License-Identifier: MIT
"""A step that is captured as a CUDA graph and replayed, between launches outside of it."""

import torch

torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
x = torch.randn(64, 256).cuda()
with torch.no_grad():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        layer(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = layer(x)
    for step in range(5):
        x.mul_(0.5)
        graph.replay()
print(f"{y.abs().sum().item():.1f}")
