// SPDX-License-Identifier: MIT
// Launches of a kernel whose threads take so many registers that a block of 1,024 finds no room, on
// every way to launch. Built by hand it prints what it does on a GPU.
#include <cooperative_groups.h>
#include <cuda.h>

#include <cstdio>
__global__ void heavy(float* o, int n) {
  float a[200];
#pragma unroll
  for (int i = 0; i < 200; i++) a[i] = o[i];
  for (int j = 0; j < n; j++) {
#pragma unroll
    for (int i = 0; i < 200; i++) a[i] = a[i] * a[(i + 1) % 200] + a[(i + 7) % 200];
  }
  float s = 0;
#pragma unroll
  for (int i = 0; i < 200; i++) s += a[i];
  o[threadIdx.x] = s;
}
__global__ void parent(float* d, int* e, int t) {
  heavy<<<1, t>>>(d, 2);
  e[0] = cudaGetLastError();
}

#define P(what, call) std::printf("%-44s %d\n", what, (int)(call))
#define LAST P(" last", cudaGetLastError())

static float* d;
static int n = 2;
static void* args[] = {&d, &n};

static void launches() {
  for (int threads : {256, 288, 289, 320, 352, 512, 1024, 1025}) {
    heavy<<<1, threads>>>(d, 2);
    char what[64];
    std::snprintf(what, sizeof what, "<<<1, %d>>>", threads);
    P(what, cudaGetLastError());
  }
  P("sync", cudaDeviceSynchronize());
  P("cudaLaunchKernel", cudaLaunchKernel((void*)heavy, 1, 1024, args, 0, 0));
  LAST;
  P("cooperative", cudaLaunchCooperativeKernel((void*)heavy, 1, 1024, args, 0, 0));
  LAST;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 1024;
  P("Ex", cudaLaunchKernelEx(&config, heavy, d, 2));
  LAST;
  int blocks = -1;
  P("occupancy 1024", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy, 1024, 0));
  P(" blocks", blocks);
  cudaFunction_t function;
  cudaGetFuncBySymbol(&function, (void*)heavy);
  P("cuLaunchKernel",
    cuLaunchKernel((CUfunction)function, 1, 1, 1, 1024, 1, 1, 0, 0, args, nullptr));
  P("cuLaunchCooperativeKernel",
    cuLaunchCooperativeKernel((CUfunction)function, 1, 1, 1, 1024, 1, 1, 0, 0, args));
}

static void graphs() {
  cudaGraph_t graph, good;
  cudaGraphNode_t node;
  cudaGraphExec_t exec = nullptr;
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)heavy;
  kernel.gridDim = 1;
  kernel.blockDim = 1024;
  kernel.kernelParams = args;
  cudaGraphCreate(&graph, 0);
  P("cudaGraphAddKernelNode", cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  LAST;
  P("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  LAST;
  LAST;
  kernel.blockDim = 32;
  cudaGraphCreate(&good, 0);
  P("add good", cudaGraphAddKernelNode(&node, good, nullptr, 0, &kernel));
  P("instantiate good", cudaGraphInstantiate(&exec, good, 0));
  kernel.blockDim = 1024;
  P("set params of exec", cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
  LAST;
  P("launch", cudaGraphLaunch(exec, 0));
  P(" sync", cudaDeviceSynchronize());
  P("set params of node", cudaGraphKernelNodeSetParams(node, &kernel));
  cudaGetLastError();

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  heavy<<<1, 1024, 0, stream>>>(d, 2);
  P("captured", cudaGetLastError());
  P("end capture", cudaStreamEndCapture(stream, &graph));
  P("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  cudaGetLastError();
}

static void children() {
  int* error;
  cudaMallocManaged(&error, sizeof *error);
  for (int threads : {1024, 128}) {
    *error = -1;
    parent<<<1, 1>>>(d, error, threads);
    P("parent sync", cudaDeviceSynchronize());
    char what[64];
    std::snprintf(what, sizeof what, "device-side error of %d threads", threads);
    P(what, *error);
    if (threads == 1024) P("last", cudaGetLastError());
  }
}

int main() {
  cudaMalloc(&d, 8192);
  cudaMemset(d, 0, 8192);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, heavy);
  std::printf("%d registers, at most %d threads\n", attributes.numRegs,
              attributes.maxThreadsPerBlock);
  launches();
  graphs();
  children();
}
