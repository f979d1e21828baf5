// SPDX-License-Identifier: MIT
// Programs with several streams that are right: --check finds nothing in any of them.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "races.h"
namespace {

void event_between() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void both_read() {
  Case c;
  int* z = nullptr;
  CHECKED(cudaMalloc(&z, bytes));
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
  move<<<blocks(count), 128, 0, c.b>>>(z, c.x, count);
  CHECKED(cudaFree(z));
}

void halves() {
  Case c;
  fill<<<blocks(count / 2), 128, 0, c.a>>>(c.x, count / 2, 1);
  fill<<<blocks(count / 2), 128, 0, c.b>>>(c.x + count / 2, count / 2, 1);
}

void odd_and_even_elements() {
  Case c;
  fill_every_second<<<blocks(count / 2), 128, 0, c.a>>>(c.x, count, 0);
  fill_every_second<<<blocks(count / 2), 128, 0, c.b>>>(c.x, count, 1);
}

__global__ void fill_bytes(char* to, int n, int first) {
  const int i = 2 * threadIdx.x + first;
  if (i < n) to[i] = 1;
}

void odd_and_even_bytes() {
  Case c;
  fill_bytes<<<1, 64, 0, c.a>>>(reinterpret_cast<char*>(c.x), 128, 0);
  fill_bytes<<<1, 64, 0, c.b>>>(reinterpret_cast<char*>(c.x), 128, 1);
}

void columns_of_boxes() {
  Case c;
  CHECKED(cudaMemset2DAsync(c.x, 128, 0, 64, 8, c.a));
  CHECKED(cudaMemset2DAsync(reinterpret_cast<char*>(c.x) + 64, 128, 1, 64, 8, c.b));
}

void host_waits_for_the_stream() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaStreamSynchronize(c.a));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void host_waits_for_the_event() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaEventSynchronize(c.event));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void host_polls_the_event() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  while (cudaEventQuery(c.event) == cudaErrorNotReady) {
  }
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void host_polls_the_stream() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  while (cudaStreamQuery(c.a) == cudaErrorNotReady) {
  }
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void host_waits_for_the_device() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaDeviceSynchronize());
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void default_stream_before_blocking() {
  Case c;
  fill<<<blocks(count), 128>>>(c.x, count, 1);
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
}

void default_stream_behind_blocking() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  move<<<blocks(count), 128>>>(c.y, c.x, count);
}

void default_stream_between_blocking() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  add<<<1, 32>>>(c.y, c.y, 1);
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void default_event_between_blocking() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, nullptr));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void copy_to_the_host_waits() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128>>>(c.x, count, 1);
  CHECKED(cudaMemcpy(c.host, c.x, bytes, cudaMemcpyDeviceToHost));
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 2);
}

void copy_from_pinned_memory_waits() {
  Case c(cudaStreamNonBlocking);
  CHECKED(cudaMemcpy(c.x, c.pinned, bytes, cudaMemcpyHostToDevice));
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
}

void copy_from_pageable_memory_waits_for_what_was_before() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128>>>(c.x, count, 1);
  CHECKED(cudaMemcpy(c.y, c.host, bytes, cudaMemcpyHostToDevice));
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 2);
}

void copy_to_pageable_memory_is_waited_for() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaMemcpyAsync(c.host, c.x, bytes, cudaMemcpyDeviceToHost, c.a));
  fill<<<blocks(count), 128, 0, c.b>>>(c.x, count, 2);
}

void freeing_waits_for_all() {
  Case c(cudaStreamNonBlocking);
  int* z = nullptr;
  CHECKED(cudaMalloc(&z, bytes));
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaFree(z));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void double_buffering() {
  Case c(cudaStreamNonBlocking);
  int* buffers[2] = {c.x, c.y};
  int* sum = nullptr;
  cudaEvent_t filled[2], emptied[2];
  CHECKED(cudaMalloc(&sum, bytes));
  CHECKED(cudaMemset(sum, 0, bytes));
  for (int i = 0; i < 2; ++i) {
    CHECKED(cudaEventCreate(&filled[i]));
    CHECKED(cudaEventCreate(&emptied[i]));
  }
  CHECKED(cudaDeviceSynchronize());
  for (int i = 0; i < 6; ++i) {
    const int which = i % 2;
    CHECKED(cudaStreamWaitEvent(c.a, emptied[which], 0));  // at first of nothing
    CHECKED(cudaMemcpyAsync(buffers[which], c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
    CHECKED(cudaEventRecord(filled[which], c.a));
    CHECKED(cudaStreamWaitEvent(c.b, filled[which], 0));
    add<<<blocks(count), 128, 0, c.b>>>(sum, buffers[which], count);
    CHECKED(cudaEventRecord(emptied[which], c.b));
  }
  CHECKED(cudaDeviceSynchronize());
  for (int i = 0; i < 2; ++i) {
    CHECKED(cudaEventDestroy(filled[i]));
    CHECKED(cudaEventDestroy(emptied[i]));
  }
  CHECKED(cudaFree(sum));
}

void fork_and_join() {
  Case c;
  constexpr int parts = 4;
  cudaStream_t streams[parts];
  for (int i = 0; i < parts; ++i) {
    CHECKED(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  }
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  for (int i = 0; i < parts; ++i) {
    CHECKED(cudaStreamWaitEvent(streams[i], c.event, 0));
    add<<<blocks(count / parts), 128, 0, streams[i]>>>(c.x + i * (count / parts),
                                                       c.y + i * (count / parts), count / parts);
    cudaEvent_t done = nullptr;
    CHECKED(cudaEventCreate(&done));
    CHECKED(cudaEventRecord(done, streams[i]));
    CHECKED(cudaStreamWaitEvent(c.a, done, 0));
    CHECKED(cudaEventDestroy(done));
  }
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
  CHECKED(cudaDeviceSynchronize());
  for (cudaStream_t stream : streams) CHECKED(cudaStreamDestroy(stream));
}

void parts_of_a_buffer_in_several_streams() {
  Case c;
  cudaStream_t streams[2] = {c.a, c.b};
  for (int i = 0; i < 4; ++i) {
    const int from = i * (count / 4);
    cudaStream_t stream = streams[i % 2];
    CHECKED(
        cudaMemcpyAsync(c.x + from, c.pinned + from, bytes / 4, cudaMemcpyHostToDevice, stream));
    add<<<blocks(count / 4), 128, 0, stream>>>(c.x + from, c.y + from, count / 4);
    CHECKED(
        cudaMemcpyAsync(c.pinned + from, c.x + from, bytes / 4, cudaMemcpyDeviceToHost, stream));
  }
}

void events_passed_on() {
  Case c(cudaStreamNonBlocking);
  cudaStream_t third = nullptr;
  CHECKED(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  CHECKED(cudaEventRecord(c.event, c.b));
  CHECKED(cudaStreamWaitEvent(third, c.event, 0));
  move<<<blocks(count), 128, 0, third>>>(c.y, c.x, count);
  CHECKED(cudaStreamDestroy(third));
}

void wait_then_synchronise() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  CHECKED(cudaStreamSynchronize(c.b));
  fill<<<blocks(count), 128>>>(c.x, count, 2);
}

void callback_wakes_the_host() {
  Case c(cudaStreamNonBlocking);
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
  } waiting;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaLaunchHostFunc(
      c.a,
      [](void* given) {
        auto& known = *static_cast<Waiting*>(given);
        const std::lock_guard lock(known.mutex);
        known.is_done = true;
        known.changed.notify_one();
      },
      &waiting));
  {
    std::unique_lock lock(waiting.mutex);
    waiting.changed.wait(lock, [&] { return waiting.is_done; });
  }
  // The function may have told before it ended.
  CHECKED(cudaStreamSynchronize(c.a));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void work_behind_a_callback() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaStreamAddCallback(
      c.a, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
  add<<<blocks(count), 128, 0, c.a>>>(c.x, c.y, count);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

void threads_with_streams() {
  Case c(cudaStreamNonBlocking);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      cudaStream_t own = nullptr;
      CHECKED(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
      fill<<<blocks(count / 4), 128, 0, own>>>(c.x + i * (count / 4), count / 4, i);
      CHECKED(cudaStreamSynchronize(own));
      CHECKED(cudaStreamDestroy(own));
    });
  }
  for (std::thread& thread : threads) thread.join();
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
}

void per_thread_streams() {
  Case c;
  std::thread([&] {
    fill<<<blocks(count), 128, 0, cudaStreamPerThread>>>(c.x, count, 1);
    CHECKED(cudaStreamSynchronize(cudaStreamPerThread));
  }).join();
  move<<<blocks(count), 128, 0, cudaStreamPerThread>>>(c.y, c.x, count);
  move<<<blocks(count), 128>>>(c.y, c.x, count);  // the legacy stream waits for it
}

void pool_in_one_stream() {
  Case c;
  int* pool = nullptr;
  CHECKED(cudaMallocAsync(&pool, bytes, c.a));
  fill<<<blocks(count), 128, 0, c.a>>>(pool, count, 1);
  CHECKED(cudaFreeAsync(pool, c.a));
}

void pool_between_streams() {
  Case c(cudaStreamNonBlocking);
  int* pool = nullptr;
  CHECKED(cudaMallocAsync(&pool, bytes, c.a));
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  fill<<<blocks(count), 128, 0, c.b>>>(pool, count, 1);
  CHECKED(cudaEventRecord(c.event, c.b));
  CHECKED(cudaStreamWaitEvent(c.a, c.event, 0));
  CHECKED(cudaFreeAsync(pool, c.a));
}

void pool_freed_by_the_host_that_waited() {
  Case c;
  int* pool = nullptr;
  CHECKED(cudaMallocAsync(&pool, bytes, c.a));
  fill<<<blocks(count), 128, 0, c.a>>>(pool, count, 1);
  CHECKED(cudaStreamSynchronize(c.a));
  CHECKED(cudaFree(pool));
}

}  // namespace

int main() {
  event_between();
  both_read();
  halves();
  odd_and_even_elements();
  odd_and_even_bytes();
  columns_of_boxes();
  host_waits_for_the_stream();
  host_waits_for_the_event();
  host_polls_the_event();
  host_polls_the_stream();
  host_waits_for_the_device();
  default_stream_before_blocking();
  default_stream_behind_blocking();
  default_stream_between_blocking();
  default_event_between_blocking();
  copy_to_the_host_waits();
  copy_from_pinned_memory_waits();
  copy_from_pageable_memory_waits_for_what_was_before();
  copy_to_pageable_memory_is_waited_for();
  freeing_waits_for_all();
  double_buffering();
  fork_and_join();
  parts_of_a_buffer_in_several_streams();
  events_passed_on();
  wait_then_synchronise();
  callback_wakes_the_host();
  work_behind_a_callback();
  threads_with_streams();
  per_thread_streams();
  pool_in_one_stream();
  pool_between_streams();
  pool_freed_by_the_host_that_waited();
}
