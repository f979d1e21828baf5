// SPDX-License-Identifier: MIT
// c = a + b, one thread an element: the plainest coalesced access there is. The block's size comes
// from the launch.
extern "C" __global__ void vector_add(float* c, const float* a, const float* b, int n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<unsigned>(n)) c[i] = a[i] + b[i];
}
