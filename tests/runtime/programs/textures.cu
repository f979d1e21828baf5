// Reads a texture, which the model does not execute.
#include <cuda_runtime.h>

__global__ void sample(float* out, cudaTextureObject_t texture) {
  out[threadIdx.x] = tex1D<float>(texture, static_cast<float>(threadIdx.x));
}

int main() { sample<<<1, 32>>>(nullptr, 0); }
