# SPDX-License-Identifier: MIT
"""Array expressions, a raw kernel, reductions, a sort and a product of CuPy."""

import cupy as cp

x = cp.arange(1 << 18, dtype=cp.float32).reshape(512, 512)
y = cp.sin(x) * 2 + x.T
print(round(float(y.sum()), -3), float(cp.sort(x[::-1].ravel())[7]), float((cp.eye(512, dtype=cp.float32) @ x)[3, 4]))
scale = cp.RawKernel("""
extern "C" __global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}""", "scale")
scale((1024,), (256,), (x, cp.float32(2), 1 << 18))
add = cp.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a + b", "add")
total = cp.ReductionKernel("float32 a", "float32 c", "a * a", "a + b", "c = a", "0", "squares")
print(float(add(x, x)[1, 1]), float(total(cp.ones(1000, dtype=cp.float32))), int(cp.cumsum(cp.ones(5000, dtype=cp.int32))[-1]))
