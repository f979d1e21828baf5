// SPDX-License-Identifier: MIT
// A node of a graph waits for a flag that the host sets once the graph has been launched.
#include "waiting.h"
__global__ void wait_in_graph(volatile int* flag, int* data) {
  if (wait_for(flag, 1)) data[threadIdx.x] += 10;
}
int main() {
  int *flag = nullptr, *data = device_array();
  CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add_one<<<8, 128, 0, stream>>>(data);
  wait_in_graph<<<1, 64, 0, stream>>>(flag, data);
  add_one<<<8, 128, 0, stream>>>(data);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  *static_cast<volatile int*>(flag) = 1;
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphLaunch(executable, stream));  // the flag is set already
  CHECK(cudaStreamSynchronize(stream));
  finish(data);
}
