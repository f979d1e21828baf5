// SPDX-License-Identifier: MIT
// Kernels allocate and free on the device's heap, which no repetition restores.
#include "waiting.h"
struct Node {
  int value;
  Node* next;
};
__device__ Node* list;
__global__ void push(int value) { list = new Node{value, list}; }
__global__ void pop(int* data) {
  Node* first = list;
  if (first == nullptr) return;
  data[first->value] += 10;
  list = first->next;
  delete first;
}
int main() {
  int* data = device_array();
  for (int i = 0; i < 8; ++i) push<<<1, 1>>>(i);
  for (int i = 0; i < 8; ++i) pop<<<1, 1>>>(data);
  CHECK(cudaDeviceSynchronize());
  finish(data);
}
