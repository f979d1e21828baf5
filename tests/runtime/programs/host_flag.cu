// A kernel that waits for what the host, or a kernel of another stream, sets after its launch,
// which hardware does side by side; or for what nobody can set.
#include <cstdio>
#include <string>

__global__ void waits(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *out = 7;
}
__global__ void sets(volatile int* flag) {
  __threadfence_system();
  *flag = 1;
}

int main(int, char** words) {
  const std::string how = words[1];
  int *flag, *out, result = 0;
  if (how == "host") cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
  if (how != "host") cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  cudaDeviceSynchronize();
  if (how == "nobody") {
    waits<<<1, 1>>>(flag, out);
  } else {
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    if (how == "stream before") sets<<<1, 1, 0, b>>>(flag);
    waits<<<1, 1, 0, a>>>(flag, out);
    if (how == "stream") sets<<<1, 1, 0, b>>>(flag);
    if (how == "host") *static_cast<volatile int*>(flag) = 1;
  }
  cudaDeviceSynchronize();
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
}
