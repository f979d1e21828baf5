// SPDX-License-Identifier: MIT
// Managed memory: written by the host and by kernels in turns, named to the driver as such, copied
// like any other.
#include <cstdio>
struct Node {
  int value;
  Node* next;
};

__global__ void add_at(int* data, int stride) { data[threadIdx.x * stride] += 1; }

/// Walks a list that the host made.
__global__ void walk(const Node* node, int* sum) {
  int all = 0;
  for (; node != nullptr; node = node->next) all += node->value;
  *sum = all;
}

#define SAY(call) std::printf("%s\n", cudaGetErrorName(call))

int main() {
  int *data = nullptr, *device = nullptr;
  SAY(cudaMallocManaged(&data, 256 * sizeof(int)));
  for (int i = 0; i < 256; ++i) data[i] = i;
  add_at<<<1, 32>>>(data, 1);
  SAY(cudaDeviceSynchronize());
  std::printf("%d %d %d\n", data[0], data[31], data[32]);
  data[8] = 100;
  add_at<<<1, 32>>>(data, 8);
  SAY(cudaDeviceSynchronize());
  std::printf("%d %d %d\n", data[8], data[9], data[248]);

  const cudaMemLocation location{cudaMemLocationTypeDevice, 0};
  SAY(cudaMemPrefetchAsync(data, 256 * sizeof(int), location, 0, nullptr));
  SAY(cudaMemAdvise(data, 256 * sizeof(int), cudaMemAdviseSetReadMostly, location));
  cudaPointerAttributes attributes{};
  SAY(cudaPointerGetAttributes(&attributes, data + 3));
  std::printf("managed %d, at one address %d\n", attributes.type == cudaMemoryTypeManaged,
              attributes.hostPointer == data + 3 && attributes.devicePointer == data + 3);
  SAY(cudaMalloc(&device, 4 * sizeof(int)));
  int back[4] = {};
  SAY(cudaMemcpy(device, data + 7, sizeof back, cudaMemcpyDefault));
  SAY(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", back[0], back[1]);
  SAY(cudaMemset(data, 0, sizeof back));
  SAY(cudaDeviceSynchronize());
  std::printf("%d %d\n", data[3], data[4]);

  Node* nodes = nullptr;
  SAY(cudaMallocManaged(&nodes, 10 * sizeof(Node), cudaMemAttachGlobal));
  for (int i = 0; i < 10; ++i) nodes[i] = {i, i < 9 ? nodes + i + 1 : nullptr};
  walk<<<1, 1>>>(nodes, data);
  SAY(cudaDeviceSynchronize());
  std::printf("%d\n", data[0]);
  SAY(cudaMallocManaged(&nodes, 64, 7));
  SAY(cudaMallocManaged(&nodes, 0));
  std::printf("nothing: %d\n", nodes == nullptr);
  SAY(cudaFree(data));
}
