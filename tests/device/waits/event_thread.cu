// SPDX-License-Identifier: MIT
// A kernel waits for an event of another thread's stream, which is held up until the first thread
// goes on.
#include <atomic>
#include <thread>
#include "waiting.h"
static std::atomic<bool> is_recorded{false}, may_go_on{false};
static void hold(void*) {
  while (!may_go_on) std::this_thread::yield();
}
int main() {
  int* data = device_array();
  cudaStream_t mine;
  cudaEvent_t event;
  CHECK(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaDeviceSynchronize());
  std::thread other([&] {
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaLaunchHostFunc(stream, hold, nullptr));
    CHECK(cudaEventRecord(event, stream));
    is_recorded = true;
    CHECK(cudaStreamSynchronize(stream));
  });
  while (!is_recorded) std::this_thread::yield();
  CHECK(cudaStreamWaitEvent(mine, event, 0));
  add_one<<<8, 128, 0, mine>>>(data);
  may_go_on = true;
  other.join();
  CHECK(cudaStreamSynchronize(mine));
  finish(data);
}
