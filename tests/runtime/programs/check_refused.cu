// A kernel that the model refuses would have written what is copied back: nobody can say that it is
// unwritten.
#include <cstdio>

__global__ void product(float* out) {
  unsigned a[4] = {}, b[4] = {};
  float d[4];
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %4, 0x0;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

int main() {
  float *device, host[128];
  if (cudaMalloc(&device, sizeof(host)) != cudaSuccess) return 1;
  product<<<1, 32>>>(device);
  const cudaError_t launched = cudaGetLastError();
  if (cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  std::printf("%s\n", launched == cudaSuccess ? "launched" : "refused");
  return cudaFree(device) == cudaSuccess ? 0 : 1;
}
