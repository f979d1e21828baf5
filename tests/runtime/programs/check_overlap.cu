// SPDX-License-Identifier: MIT
// Copies whose two sides have bytes in common, which CUDA's reference forbids ("the memory areas
// may not overlap"), and some that only look like it. Lines with "overlaps" are mistakes.
#include <cstdio>
int main() {
  constexpr int width = 64, height = 16, bytes = width * height;
  unsigned char *d, *other, *host;
  cudaMalloc(&d, bytes);
  cudaMalloc(&other, bytes);
  cudaMallocHost(&host, bytes);
  cudaMemset(d, 1, bytes);
  cudaMemset(other, 2, bytes);
  cudaMemset(host, 3, bytes);
  constexpr auto within = cudaMemcpyDeviceToDevice;
  cudaMemcpy(d + 1, d, 16, within);                                             // overlaps
  cudaMemcpy(d, d + 15, 16, within);                                            // overlaps
  cudaMemcpy(d + 16, d, 16, within);                                            // side by side
  cudaMemcpy(d, d, 16, within);                                                 // itself
  cudaMemcpy2D(d + width, width, d, width, width, height - 1, within);          // overlaps
  cudaMemcpy2D(d + width / 2, width, d, width, width / 2, height, within);      // columns
  cudaMemcpy2D(d + width / 2 - 1, width, d, width, width / 2, height, within);  // overlaps
  cudaMemcpy2D(d, 2 * width, d + width, 2 * width, width, height / 2, within);  // every other row
  cudaMemcpy2D(d, width, d, 2 * width, width, height / 2, within);              // overlaps
  cudaMemcpy2D(other, width, d, width, width, height, within);                  // two buffers
  cudaMemcpyAsync(d + 8, d, 16, within, 0);                                     // overlaps
  cudaMemcpyPeer(d + 8, 0, d, 0, 16);                                           // overlaps
  cudaMemcpy(host + 8, host, 16, cudaMemcpyHostToHost);                         // overlaps
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(d, 8, 8, 4);
  box.dstPtr = make_cudaPitchedPtr(d + 32, 8, 8, 4);
  box.extent = make_cudaExtent(8, 4, 4);
  box.kind = within;
  cudaMemcpy3D(&box);  // overlaps
  box.extent = make_cudaExtent(8, 4, 1);
  cudaMemcpy3D(&box);  // one layer behind the other
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, d + 4, d, 16, within);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, 0);  // overlaps
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaFree(d);
  cudaFree(other);
  cudaFreeHost(host);
}
