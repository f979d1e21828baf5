// SPDX-License-Identifier: MIT
// A cooperative kernel on each device waits for the one on the next, through peer memory; a
// cooperative grid that waits for itself alone where there is one device or no peer access.
#include <cooperative_groups.h>
#include "waiting.h"
__global__ void meet_devices(volatile int* mine, volatile int* other, int* data) {
  const auto grid = cooperative_groups::this_grid();
  grid.sync();
  if (grid.thread_rank() == 0) *mine = 1;
  __threadfence_system();
  if (wait_for(other, 1)) data[grid.thread_rank()] += 10;
  grid.sync();
}
int main() {
  int devices = 0, peer = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices > 1) CHECK(cudaDeviceCanAccessPeer(&peer, 0, 1));
  const int used = peer != 0 ? 2 : 1;
  int *flags[2], *data[2];
  for (int i = 0; i < used; ++i) {
    CHECK(cudaSetDevice(i));
    if (used == 2) CHECK(cudaDeviceEnablePeerAccess(1 - i, 0));
    CHECK(cudaMalloc(&flags[i], sizeof(int)));
    CHECK(cudaMemset(flags[i], 0, sizeof(int)));
    data[i] = device_array();
    CHECK(cudaDeviceSynchronize());
  }
  for (int i = 0; i < used; ++i) {
    CHECK(cudaSetDevice(i));
    int *mine = flags[i], *other = flags[used == 2 ? 1 - i : i];
    void* arguments[] = {&mine, &other, &data[i]};
    CHECK(cudaLaunchCooperativeKernel(meet_devices, 8, 128, arguments));
  }
  for (int i = used; i-- > 0;) {
    CHECK(cudaSetDevice(i));
    CHECK(cudaDeviceSynchronize());
  }
  finish(data[0]);
}
