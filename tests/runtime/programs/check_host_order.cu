// SPDX-License-Identifier: MIT
// Programs that are right with graphs, kernels that hand over by atomics, and host code that waits
// for whoever reads its memory: --check finds nothing in any of them.
#include "races.h"
namespace {

void graph_of_several_streams() {
  Case c;
  cudaEvent_t joined = nullptr;
  CHECKED(cudaEventCreate(&joined));
  cudaGraphExec_t graph = captured(c.a, [&] {
    fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
    CHECKED(cudaEventRecord(c.event, c.a));
    CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
    move<<<blocks(count / 2), 128, 0, c.a>>>(c.y, c.x, count / 2);
    move<<<blocks(count / 2), 128, 0, c.b>>>(c.y + count / 2, c.x + count / 2, count / 2);
    CHECKED(cudaEventRecord(joined, c.b));
    CHECKED(cudaStreamWaitEvent(c.a, joined, 0));
    add<<<blocks(count), 128, 0, c.a>>>(c.x, c.y, count);
  });
  for (int i = 0; i < 3; ++i) CHECKED(cudaGraphLaunch(graph, c.a));
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
  CHECKED(cudaEventDestroy(joined));
}

/// An executable graph does not run beside itself.
void one_graph_in_two_streams() {
  Case c(cudaStreamNonBlocking);
  cudaGraphExec_t graph =
      captured(c.a, [&] { add<<<blocks(count), 128, 0, c.a>>>(c.x, c.y, count); });
  CHECKED(cudaGraphLaunch(graph, c.a));
  CHECKED(cudaGraphLaunch(graph, c.b));
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
}

void graph_with_a_child() {
  Case c;
  cudaGraph_t graph = nullptr, child = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t set = nullptr, inner = nullptr, copy = nullptr, last = nullptr;
  CHECKED(cudaGraphCreate(&graph, 0));
  CHECKED(cudaGraphCreate(&child, 0));
  const cudaMemsetParams parameters{c.x, 0, 1, 4, count, 1};
  CHECKED(cudaGraphAddMemcpyNode1D(&inner, child, nullptr, 0, c.y, c.x, bytes,
                                   cudaMemcpyDeviceToDevice));
  CHECKED(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &parameters));
  CHECKED(cudaGraphAddChildGraphNode(&copy, graph, &set, 1, child));
  CHECKED(cudaGraphAddMemsetNode(&last, graph, &copy, 1, &parameters));
  CHECKED(cudaGraphInstantiate(&executable, graph, 0));
  CHECKED(cudaGraphLaunch(executable, c.a));
  CHECKED(cudaGraphLaunch(executable, c.a));
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(executable));
  CHECKED(cudaGraphDestroy(graph));
  CHECKED(cudaGraphDestroy(child));
}

void graph_with_memory() {
  Case c;
  int* pool = nullptr;
  cudaGraphExec_t graph = captured(c.a, [&] {
    CHECKED(cudaMallocAsync(&pool, bytes, c.a));
    fill<<<blocks(count), 128, 0, c.a>>>(pool, count, 1);
    move<<<blocks(count), 128, 0, c.a>>>(c.x, pool, count);
    CHECKED(cudaFreeAsync(pool, c.a));
  });
  for (int i = 0; i < 2; ++i) CHECKED(cudaGraphLaunch(graph, c.a));
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
}

__global__ void count_up(int* counter) { atomicAdd(counter, 1); }

void atomics_of_two_streams() {
  Case c;
  count_up<<<4, 32, 0, c.a>>>(c.x);
  count_up<<<4, 32, 0, c.b>>>(c.x);
}

__global__ void hand_over(int* data, volatile int* flag) {
  data[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *flag = 1;
  }
}
__global__ void take_over(const int* data, volatile int* flag, int* sum) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  sum[threadIdx.x] = data[threadIdx.x];
}

void data_behind_a_flag() {
  Case c(cudaStreamNonBlocking);
  hand_over<<<1, 128, 0, c.a>>>(c.x, c.x + count - 1);
  take_over<<<1, 128, 0, c.b>>>(c.x, c.x + count - 1, c.y);
}

void streams_that_come_and_go() {
  Case c(cudaStreamNonBlocking);
  for (int i = 0; i < 20; ++i) {
    cudaStream_t stream = nullptr;
    CHECKED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    fill<<<blocks(count), 128, 0, stream>>>(c.x, count, i);
    CHECKED(cudaStreamSynchronize(stream));
    CHECKED(cudaStreamDestroy(stream));
  }
}

void priorities() {
  Case c;
  int least = 0, greatest = 0;
  CHECKED(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t urgent = nullptr;
  CHECKED(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  fill<<<blocks(count), 128, 0, urgent>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, urgent));
  CHECKED(cudaEventSynchronize(c.event));
  move<<<blocks(count), 128, 0, c.a>>>(c.y, c.x, count);
  CHECKED(cudaStreamDestroy(urgent));
}

void event_recorded_again() {
  Case c(cudaStreamNonBlocking);
  fill<<<blocks(count), 128, 0, c.a>>>(c.x, count, 1);
  CHECKED(cudaEventRecord(c.event, c.a));
  add<<<blocks(count), 128, 0, c.a>>>(c.x, c.y, count);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaStreamWaitEvent(c.b, c.event, 0));
  move<<<blocks(count), 128, 0, c.b>>>(c.y, c.x, count);
}

// The host and what reads its memory.

void pinned_ping_pong() {
  Case c;
  int* pinned[2] = {c.pinned, nullptr};
  int* device[2] = {c.x, c.y};
  cudaEvent_t done[2];
  CHECKED(cudaMallocHost(&pinned[1], bytes));
  for (cudaEvent_t& one : done) CHECKED(cudaEventCreate(&one));
  for (int i = 0; i < 6; ++i) {
    const int which = i % 2;
    CHECKED(cudaEventSynchronize(done[which]));  // at first of nothing
    for (int k = 0; k < count; ++k) pinned[which][k] = i + k;
    CHECKED(cudaMemcpyAsync(device[which], pinned[which], bytes, cudaMemcpyHostToDevice, c.a));
    CHECKED(cudaEventRecord(done[which], c.a));
  }
  CHECKED(cudaDeviceSynchronize());
  for (cudaEvent_t one : done) CHECKED(cudaEventDestroy(one));
  CHECKED(cudaFreeHost(pinned[1]));
}

void pinned_memory_changed_behind_the_wait() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  CHECKED(cudaStreamSynchronize(c.a));
  c.pinned[0] = -1;
}

void other_part_of_pinned_memory() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes / 2, cudaMemcpyHostToDevice, c.a));
  c.pinned[count / 2] = -1;
}

void pageable_memory_changed_at_once() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.host, bytes, cudaMemcpyHostToDevice, c.a));
  c.host[0] = -1;
}

void copy_that_waits() {
  Case c;
  CHECKED(cudaMemcpy(c.x, c.pinned, bytes, cudaMemcpyHostToDevice));
  c.pinned[0] = -1;
}

void in_place_by_way_of_the_device() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
  add<<<blocks(count), 128, 0, c.a>>>(c.x, c.x, count);
  CHECKED(cudaMemcpyAsync(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.a));
}

void managed_memory_with_waits() {
  Case c;
  int* managed = nullptr;
  CHECKED(cudaMallocManaged(&managed, bytes));
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < count; ++k) managed[k] = i + k;
    CHECKED(cudaMemPrefetchAsync(managed, bytes, {cudaMemLocationTypeDevice, 0}, 0, c.a));
    add<<<blocks(count), 128, 0, c.a>>>(managed, c.x, count);
    CHECKED(cudaMemPrefetchAsync(managed, bytes, {cudaMemLocationTypeHost, 0}, 0, c.a));
    CHECKED(cudaStreamSynchronize(c.a));
  }
  CHECKED(cudaFree(managed));
}

void host_function_fills_again() {
  Case c;
  for (int i = 0; i < 3; ++i) {
    CHECKED(cudaMemcpyAsync(c.x, c.pinned, bytes, cudaMemcpyHostToDevice, c.a));
    CHECKED(cudaLaunchHostFunc(
        c.a,
        [](void* given) {
          for (int k = 0; k < count; ++k) static_cast<int*>(given)[k] += 1;
        },
        c.pinned));
  }
}

__global__ void wait_for_host(volatile int* flag, int* to) { to[0] = *flag; }

void flag_of_the_host() {
  Case c;
  volatile int* flag = c.pinned;
  *flag = 1;
  wait_for_host<<<1, 1, 0, c.a>>>(flag, c.x);
  *flag = 2;
}

__global__ void answer(volatile int* mailbox, int* data) {
  data[0] = mailbox[1];
  __threadfence_system();
  mailbox[0] = 1;
}

void mailbox_that_the_host_polls() {
  Case c;
  volatile int* mailbox = c.pinned;
  mailbox[0] = 0;
  answer<<<1, 1, 0, c.a>>>(c.pinned, c.pinned + 2);
  while (mailbox[0] == 0) {
  }
  c.pinned[1] = 17;
}

}  // namespace

int main() {
  graph_of_several_streams();
  one_graph_in_two_streams();
  graph_with_a_child();
  graph_with_memory();
  atomics_of_two_streams();
  data_behind_a_flag();
  streams_that_come_and_go();
  priorities();
  event_recorded_again();
  pinned_ping_pong();
  pinned_memory_changed_behind_the_wait();
  other_part_of_pinned_memory();
  pageable_memory_changed_at_once();
  copy_that_waits();
  in_place_by_way_of_the_device();
  managed_memory_with_waits();
  host_function_fills_again();
  flag_of_the_host();
  mailbox_that_the_host_polls();
}
