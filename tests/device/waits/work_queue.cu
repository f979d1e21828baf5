// SPDX-License-Identifier: MIT
// A persistent kernel takes work from a queue in mapped memory until the host closes it.
#include "waiting.h"
struct Queue {
  volatile int pushed, done, is_closed;
  volatile int items[16];
};
__global__ void serve(Queue* queue, int* data) {
  for (int next = 0;; ++next) {
    const unsigned long long begin = now_ns();
    while (queue->pushed <= next) {
      if (queue->is_closed != 0 || now_ns() - begin > 20'000'000'000ull) return;
    }
    __threadfence_system();
    data[queue->items[next]] += 10;
    __threadfence_system();
    queue->done = next + 1;
  }
}
int main() {
  int* data = device_array();
  Queue* queue = nullptr;
  CHECK(cudaHostAlloc(&queue, sizeof *queue, cudaHostAllocMapped));
  queue->pushed = queue->done = queue->is_closed = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  serve<<<1, 1, 0, stream>>>(queue, data);
  for (int i = 0; i < 16; ++i) {
    queue->items[i] = i;
    __sync_synchronize();
    queue->pushed = i + 1;
    while (queue->done <= i && cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
  }
  queue->is_closed = 1;
  CHECK(cudaStreamSynchronize(stream));
  finish(data);
}
