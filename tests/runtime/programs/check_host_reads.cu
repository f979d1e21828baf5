// SPDX-License-Identifier: MIT
// Host code that touches what a kernel or copy might still be writing, beside code that waits or
// touches something else: --check tells the lines that say so, and what the program prints and
// returns is what it would be without.
#include <cstring>

#include "races.h"
namespace {

int sum = 0;

struct Managed {
  int* data = nullptr;
  explicit Managed(std::size_t elements = count) {
    CHECKED(cudaMallocManaged(&data, elements * sizeof(int)));
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  ~Managed() {
    CHECKED(cudaDeviceSynchronize());
    CHECKED(cudaFree(data));
  }
};

// These calls are wrong.

void managed_memory_without_a_wait() {
  Managed m;
  fill<<<blocks(count), 128>>>(m.data, count, 1);
  for (int i = 0; i < count; ++i) {
    sum += m.data[i];  // race: host
  }
}

void small_managed_memory() {
  Managed m(3);
  fill<<<1, 32>>>(m.data, 3, 1);
  sum += m.data[2];  // race: host
}

void large_managed_memory() {
  constexpr int elements = 100'000;
  Managed m(elements);
  fill<<<blocks(elements), 128>>>(m.data, elements, 1);
  sum += m.data[elements - 1];  // race: host
}

void second_launch_not_waited_for() {
  Managed m;
  fill<<<blocks(count), 128>>>(m.data, count, 1);
  CHECKED(cudaDeviceSynchronize());
  sum += m.data[0];
  add<<<blocks(count), 128>>>(m.data, m.data, count);
  sum += m.data[0];  // race: host
}

void written_again_by_the_host() {
  Managed m;
  fill<<<blocks(count), 128>>>(m.data, count, 1);
  m.data[5] = 0;  // race: host
}

void by_a_function_of_the_library() {
  Managed m;
  fill<<<blocks(count), 128>>>(m.data, count, 1);
  int here[count];
  std::memcpy(here, m.data, sizeof here);  // race: host
  sum += here[3];
}

void copy_to_pinned_memory() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.a));
  sum += c.pinned[7];  // race: host
}

void other_stream_waited_for() {
  Case c(cudaStreamNonBlocking);
  CHECKED(cudaMemcpyAsync(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.a));
  CHECKED(cudaStreamSynchronize(c.b));
  sum += c.pinned[0];  // race: host
}

void event_of_before() {
  Case c;
  CHECKED(cudaEventRecord(c.event, c.a));
  fill<<<blocks(count), 128, 0, c.a>>>(c.pinned, count, 1);
  CHECKED(cudaEventSynchronize(c.event));
  sum += c.pinned[0];  // race: host
}

void graph_not_waited_for() {
  Case c;
  cudaGraphExec_t graph =
      captured(c.a, [&] { fill<<<blocks(count), 128, 0, c.a>>>(c.pinned, count, 1); });
  CHECKED(cudaGraphLaunch(graph, c.a));
  sum += c.pinned[0];  // race: host
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaGraphExecDestroy(graph));
}

void set_not_waited_for() {
  Managed m;
  CHECKED(cudaMemsetAsync(m.data, 0, bytes));
  sum += m.data[0];  // race: host
}

// These calls are right.

void waits_of_every_kind() {
  Case c;
  Managed m;
  fill<<<blocks(count), 128, 0, c.a>>>(m.data, count, 1);
  CHECKED(cudaStreamSynchronize(c.a));
  sum += m.data[0];
  fill<<<blocks(count), 128, 0, c.a>>>(m.data, count, 2);
  CHECKED(cudaEventRecord(c.event, c.a));
  CHECKED(cudaEventSynchronize(c.event));
  sum += m.data[0];
  fill<<<blocks(count), 128, 0, c.a>>>(m.data, count, 3);
  while (cudaStreamQuery(c.a) == cudaErrorNotReady) {
  }
  sum += m.data[0];
  fill<<<blocks(count), 128, 0, c.a>>>(m.data, count, 4);
  CHECKED(cudaEventRecord(c.event, c.a));
  while (cudaEventQuery(c.event) == cudaErrorNotReady) {
  }
  sum += m.data[0];
  fill<<<blocks(count), 128>>>(m.data, count, 5);
  CHECKED(cudaMemcpy(c.host, c.x, 4, cudaMemcpyDeviceToHost));  // behind it in the default stream
  sum += m.data[0];
  CHECKED(cudaMemset(m.data, 0, bytes));  // for managed memory it waits
  sum += m.data[0];
  CHECKED(cudaMemcpy(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost));
  sum += c.pinned[0];
  int* scratch = nullptr;
  CHECKED(cudaMalloc(&scratch, bytes));
  fill<<<blocks(count), 128>>>(m.data, count, 6);
  CHECKED(cudaFree(scratch));  // waits for the device
  sum += m.data[0];
}

void other_half() {
  Managed m(2 * count);
  fill<<<blocks(count), 128>>>(m.data, count, 1);
  m.data[count] = 7;
  sum += m.data[count];
}

void half_of_a_page() {
  Managed m;
  fill<<<blocks(count / 2), 128>>>(m.data, count / 2, 1);
  m.data[count / 2] = 7;
  sum += m.data[count - 1];
}

void other_memory() {
  Managed m, n;
  fill<<<blocks(count), 128>>>(m.data, count, 1);
  n.data[0] = 1;
  sum += n.data[0];
}

void pieces_in_streams() {
  Case c(cudaStreamNonBlocking);
  int* pinned = nullptr;
  CHECKED(cudaMallocHost(&pinned, 2 * bytes));
  CHECKED(cudaMemcpyAsync(pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.a));
  CHECKED(cudaMemcpyAsync(pinned + count, c.y, bytes, cudaMemcpyDeviceToHost, c.b));
  CHECKED(cudaStreamSynchronize(c.a));
  sum += pinned[0];
  CHECKED(cudaStreamSynchronize(c.b));
  sum += pinned[count];
  CHECKED(cudaFreeHost(pinned));
}

void host_function_behind_it() {
  Case c;
  CHECKED(cudaMemcpyAsync(c.pinned, c.x, bytes, cudaMemcpyDeviceToHost, c.a));
  CHECKED(cudaLaunchHostFunc(
      c.a, [](void* given) { sum += static_cast<int*>(given)[1]; }, c.pinned));
  CHECKED(cudaStreamSynchronize(c.a));
}

__global__ void post(int* data, volatile int* flag) {
  data[threadIdx.x] = 1;
  __threadfence_system();
  if (threadIdx.x == 0) *flag = 1;
}

void flag_that_the_host_polls() {
  Case c;
  volatile int* flag = c.pinned;
  *flag = 0;
  post<<<1, 32, 0, c.a>>>(c.pinned + 32, c.pinned);
  while (*flag == 0) {
  }
  sum += c.pinned[32];
}

}  // namespace

int main() {
  managed_memory_without_a_wait();
  small_managed_memory();
  large_managed_memory();
  second_launch_not_waited_for();
  written_again_by_the_host();
  by_a_function_of_the_library();
  copy_to_pinned_memory();
  other_stream_waited_for();
  event_of_before();
  graph_not_waited_for();
  set_not_waited_for();
  waits_of_every_kind();
  other_half();
  half_of_a_page();
  other_memory();
  pieces_in_streams();
  host_function_behind_it();
  flag_that_the_host_polls();
  std::printf("%d\n", sum);
}
