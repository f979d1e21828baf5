// SPDX-License-Identifier: MIT
// Races between streams and with the host, each on a line that says so.
#include <thread>

#include "races.h"
namespace {

void written_by_two_streams() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  fill<<<blocks(count), 128, 0, c.b>>>(c.x, count, 2);  // race
}

void read_by_another_stream() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void written_while_another_reads() {
  Case c;
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
  fill<<<blocks(count), 128, 0, c.b>>>(c.x, count, 1);  // race
}

void event_before_the_work() {
  Case c;
  CHECKED(cudaEventRecord(c.event, c.a));
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void event_never_recorded() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void event_in_the_wrong_stream() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.b));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void wait_behind_the_reading() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
}

void host_waits_for_the_wrong_stream() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaStreamSynchronize(c.b));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void copy_to_the_device_in_another_stream() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void copy_to_the_host_in_another_stream() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaMemcpyAsync(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.b));  // race
}

void buffer_filled_again_too_early() {
  Case c;
  for (int i = 0; i < 2; ++i) {
    CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));  // race
    CHECKED(cudaEventRecord(c.event, c.a));
    CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
    move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
  }
}

void set_in_another_stream() {
  Case c;
  CHECKED(cudaMemsetAsync(c.x, 1, bytes, c.a));
  add<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void default_stream_does_not_wait_for_non_blocking() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  move<<<blocks(count), 128>>>(c.y, c.x, count);  // race
}

void non_blocking_does_not_wait_for_default_stream() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128>>>(c.x, count, 1);
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);  // race
}

void set_does_not_wait() {
  Case c(cudaStreamNonBlocking);
  CHECKED(cudaMemset(c.x, 1, bytes));
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);  // race
}

void copy_on_the_device_does_not_wait() {
  Case c(cudaStreamNonBlocking);
  CHECKED(cudaMemcpy(c.x, c.y, bytes, cudaMemcpyDeviceToDevice));
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);  // race
}

void copy_from_pageable_memory_may_be_on_its_way() {
  Case c(cudaStreamNonBlocking);
  CHECKED(cudaMemcpy(c.x, c.host, bytes, cudaMemcpyHostToDevice));
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);  // race
}

void copy_to_the_host_does_not_wait_for_non_blocking() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaMemcpy(c.host, c.x, bytes, cudaMemcpyDeviceToHost));  // race
}

void per_thread_streams() {
  Case c;
  fill<<<blocks(count), 128, 0, cudaStreamPerThread>>>(c.x, count, 1);
  std::thread([&] {
    fill<<<blocks(count), 128, 0, cudaStreamPerThread>>>(c.x, count, 2);  // race
  }).join();
}

void threads_with_streams() {
  Case c;
  std::thread([&] { fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1); }).join();
  std::thread([&] {
    move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
  }).join();
}

void last_of_several_is_not_waited_for() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  add<<<blocks(count), 128, 0, c.a>>>(c.x, c.y, count);
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  CHECKED(cudaMemcpyAsync(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.b));  // race
}

void halves_that_overlap() {
  Case c;
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count / 2 + 1, 1);
  fill<<<blocks(count), 128, 0, c.b>>>(c.x + count / 2, count / 2, 2);  // race
}

void every_second_and_all() {
  Case c;
  fill_every_second<<<blocks(count / 2), 128, 0, c.a>>>(c.x, count, 1);
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void freed_while_another_stream_uses_it() {
  Case c;
  int* pool = nullptr;
  CHECKED(cudaMallocAsync(&pool, bytes, c.a));
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  fill<<<blocks(count), 128, 0, c.b>>>(pool, count, 1);
  CHECKED(cudaFreeAsync(pool, c.a));  // race
}

void used_before_it_is_allocated() {
  Case c;
  int* pool = nullptr;
  CHECKED(cudaMallocAsync(&pool, bytes, c.a));
  fill<<<blocks(count), 128, 0, c.b>>>(pool, count, 1);  // race
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaFreeAsync(pool, c.a));
}

void pool_memory_freed_by_the_host() {
  Case c;
  int* pool = nullptr;
  CHECKED(cudaMallocAsync(&pool, bytes, c.a));
  fill<<<blocks(count), 128, 0, c.a>>>(pool, count, 1);
  CHECKED(cudaFree(pool));  // race: host
}

void branches_of_a_graph() {
  Case c;
  cudaEvent_t joined = nullptr;
  CHECKED(cudaEventCreate(&joined));
  cudaGraphExec_t graph = captured(c.a, [&] {
    CHECKED(cudaEventRecord(c.event, c.a));
    CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
    fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
    move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
    CHECKED(cudaEventRecord(joined, c.b));
    CHECKED(cudaStreamWaitEvent(c.a, joined, 0));
  });
  CHECKED(cudaGraphLaunch(graph, c.a));  // race
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
  CHECKED(cudaEventDestroy(joined));
}

void nodes_without_an_edge() {
  Case c;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t set = nullptr, copy = nullptr;
  CHECKED(cudaGraphCreate(&graph, 0));
  const cudaMemsetParams parameters{c.x, 0, 1, 4, count, 1};
  CHECKED(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &parameters));
  CHECKED(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, c.y, c.x, bytes,
                                   cudaMemcpyDeviceToDevice));
  CHECKED(cudaGraphInstantiate(&executable, graph, 0));
  CHECKED(cudaGraphLaunch(executable, c.a));  // race
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(executable));
  CHECKED(cudaGraphDestroy(graph));
}

void graph_beside_a_stream() {
  Case c;
  cudaGraphExec_t graph =
      captured(c.a, [&] { fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1); });
  CHECKED(cudaGraphLaunch(graph, c.a));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
}

void two_graphs_in_two_streams() {
  Case c;
  cudaGraphExec_t one = captured(c.a, [&] { fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1); });
  cudaGraphExec_t other =
      captured(c.a, [&] { move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count); });
  CHECKED(cudaGraphLaunch(one, c.a));
  CHECKED(cudaGraphLaunch(other, c.b));  // race
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(one));
  CHECKED(cudaGraphExecDestroy(other));
}

void fork_without_a_join() {
  Case c;
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  fill<<<blocks(count), 128, 0, c.b>>>(c.y, count, 1);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  add<<<blocks(count), 128, 0, c.a>>>(c.x, c.y, count);  // race
}

__device__ int of_module[count];

__global__ void fill_variable() { of_module[threadIdx.x] = 1; }

void variable_of_a_module() {
  Case c;
  fill_variable<<<1, 128, 0, c.a>>>();
  CHECKED(cudaMemcpyFromSymbolAsync(c.pinned, of_module, 128 * sizeof(int), 0,  // race
                                    cudaMemcpyDeviceToHost, c.b));
}

__global__ void count_up(int* counter) { atomicAdd(counter, 1); }

void atomics_and_a_plain_read() {
  Case c;
  count_up<<<1, 32, 0, c.a>>>(c.x);
  move<<<1, 32, 0, c.b>>>(c.y, c.x, 1);  // race
}

void stream_destroyed_without_waiting() {
  Case c;
  cudaStream_t gone = nullptr;
  CHECKED(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking));
  fill<<<blocks(count), 128, 0, gone>>>(c.x, count, 1);
  CHECKED(cudaStreamDestroy(gone));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);  // race
}

void rows_of_a_box() {
  Case c;
  CHECKED(cudaMemcpy2DAsync(c.x, 128, c.pinned, 128, 64, 8, cudaMemcpyHostToDevice, c.a));
  CHECKED(cudaMemset2DAsync(c.x, 128, 0, 65, 8, c.b));  // race
}

// Host code that changes what is still read.

void pinned_memory_filled_again() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  for (int i = 0; i < count; ++i) c.pinned[i] = -1;  // race: host
}

void event_recorded_before_the_copy() {
  Case c;
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  CHECKED(cudaEventSynchronize(c.event));
  c.pinned[7] = -1;  // race: host
}

void other_stream_waited_for() {
  Case c(cudaStreamNonBlocking);
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  CHECKED(cudaStreamSynchronize(c.b));
  c.pinned[count - 1] = -1;  // race: host
}

void managed_memory_changed_under_a_kernel() {
  Case c;
  int* managed = nullptr;
  CHECKED(cudaMallocManaged(&managed, bytes));
  for (int i = 0; i < count; ++i) managed[i] = i;
  move<<<blocks(count), 128>>>(c.y, managed, count);
  managed[100] = -1;  // race: host
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaFree(managed));
}

void mapped_memory_changed_under_a_kernel() {
  Case c;
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.pinned, count);
  c.pinned[0] = -1;  // race: host
}

void registered_memory_changed_under_a_copy() {
  Case c;
  CHECKED(cudaHostRegister(c.host, bytes, cudaHostRegisterDefault));
  CHECKED(cudaMemcpyAsync(c.x, c.host, bytes, cudaMemcpyHostToDevice, c.a));  // race: host
  c.host[3] = -1;
  CHECKED(cudaStreamSynchronize(c.a));
  CHECKED(cudaHostUnregister(c.host));
}

void graph_reads_what_the_host_changes() {
  Case c;
  cudaGraphExec_t graph = captured(
      c.a, [&] { CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a)); });
  CHECKED(cudaGraphLaunch(graph, c.a));
  c.pinned[3] = -1;  // race: host
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
}

}  // namespace

int main() {
  written_by_two_streams();
  read_by_another_stream();
  written_while_another_reads();
  event_before_the_work();
  event_never_recorded();
  event_in_the_wrong_stream();
  wait_behind_the_reading();
  host_waits_for_the_wrong_stream();
  copy_to_the_device_in_another_stream();
  copy_to_the_host_in_another_stream();
  buffer_filled_again_too_early();
  set_in_another_stream();
  default_stream_does_not_wait_for_non_blocking();
  non_blocking_does_not_wait_for_default_stream();
  set_does_not_wait();
  copy_on_the_device_does_not_wait();
  copy_from_pageable_memory_may_be_on_its_way();
  copy_to_the_host_does_not_wait_for_non_blocking();
  per_thread_streams();
  threads_with_streams();
  last_of_several_is_not_waited_for();
  halves_that_overlap();
  every_second_and_all();
  freed_while_another_stream_uses_it();
  used_before_it_is_allocated();
  pool_memory_freed_by_the_host();
  branches_of_a_graph();
  nodes_without_an_edge();
  graph_beside_a_stream();
  two_graphs_in_two_streams();
  fork_without_a_join();
  variable_of_a_module();
  atomics_and_a_plain_read();
  stream_destroyed_without_waiting();
  rows_of_a_box();
  pinned_memory_filled_again();
  event_recorded_before_the_copy();
  other_stream_waited_for();
  managed_memory_changed_under_a_kernel();
  mapped_memory_changed_under_a_kernel();
  registered_memory_changed_under_a_copy();
  graph_reads_what_the_host_changes();
}
