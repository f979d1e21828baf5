# SPDX-License-Identifier: MIT
"""A compiled function: Triton's kernels by Inductor, within a CUDA graph."""

import torch


def normalised(x, weight, bias):
    x = torch.nn.functional.gelu(x) * 0.5 + x.sin()
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)


torch.manual_seed(0)
x, weight, bias = torch.randn(512, 768).cuda(), torch.randn(768).cuda(), torch.randn(768).cuda()
plain = normalised(x, weight, bias)
compiled = torch.compile(normalised, mode="reduce-overhead")
for _ in range(4):
    torch.compiler.cudagraph_mark_step_begin()
    result = compiled(x, weight, bias).clone()
print(torch.allclose(plain, result, atol=1e-4), f"{result.abs().mean().item():.3f}")
