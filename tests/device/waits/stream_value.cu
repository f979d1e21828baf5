// SPDX-License-Identifier: MIT
// A stream waits for a value (cuStreamWaitValue32) that the host writes after it has launched a
// kernel behind it.
#include <cuda.h>
#include "waiting.h"
int main() {
  int *flag = nullptr, *data = device_array();
  CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  void* place = nullptr;
  CHECK(cudaHostGetDevicePointer(&place, flag, 0));
  if (cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(place), 1,
                          CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS) {
    std::printf("no cuStreamWaitValue32\n");
    return 8;
  }
  add_one<<<8, 128, 0, stream>>>(data);
  add_one<<<8, 128, 0, stream>>>(data);
  *static_cast<volatile int*>(flag) = 1;
  CHECK(cudaStreamSynchronize(stream));
  finish(data);
}
