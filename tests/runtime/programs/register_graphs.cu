// SPDX-License-Identifier: MIT
// Graphs that get a kernel whose block finds too few registers after they were made executable, and
// other ways to launch it. Built by hand it prints what it does on a GPU.
#include <cuda.h>

#include <cstdio>
template <int>
__device__ void work(float* o, int n) {
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
__global__ void heavy(float* o, int n) { work<0>(o, n); }
__global__ void __launch_bounds__(1024) wide(float* o, int n) { work<0>(o, n); }
__global__ void __maxnreg__(80) held(float* o, int n) { work<0>(o, n); }

#define P(what, call) std::printf("%-28s %d\n", what, (int)(call))
#define LAST P(" last", cudaGetLastError())

static float* d;
static int n = 2;
static void* args[] = {&d, &n};

static cudaGraph_t graph_of(int threads, cudaGraphNode_t* node) {
  cudaGraph_t graph;
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)heavy;
  kernel.gridDim = 1;
  kernel.blockDim = threads;
  kernel.kernelParams = args;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddKernelNode(node, graph, nullptr, 0, &kernel);
  return graph;
}

static void bounds() {
  for (auto kernel : {heavy, wide, held}) {
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, kernel);
    std::printf("at most %d threads:", attributes.maxThreadsPerBlock);
    for (int threads : {256, 512, 768, 1024}) {
      kernel<<<1, threads>>>(d, 2);
      std::printf(" %d", (int)cudaGetLastError());
    }
    std::printf("\n");
  }
  P("sync", cudaDeviceSynchronize());
}

static void graphs() {
  cudaGraphNode_t node, bad_node, child;
  cudaGraphExec_t exec;
  const cudaGraph_t good = graph_of(32, &node), bad = graph_of(1024, &bad_node);
  P("instantiate", cudaGraphInstantiate(&exec, good, 0));
  cudaGraphExecUpdateResultInfo info = {};
  P("update", cudaGraphExecUpdate(exec, bad, &info));
  LAST;
  P(" result", info.result);
  P(" node", info.errorNode == bad_node);
  P(" from", info.errorFromNode != nullptr);
  P("launch", cudaGraphLaunch(exec, 0));
  P(" sync", cudaDeviceSynchronize());
  cudaGraph_t outer;
  cudaGraphCreate(&outer, 0);
  P("add child", cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, bad));
  P("instantiate child", cudaGraphInstantiate(&exec, outer, 0));
  LAST;
  cudaGraphCreate(&outer, 0);
  cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, good);
  P("instantiate good child", cudaGraphInstantiate(&exec, outer, 0));
  P("set params of child", cudaGraphExecChildGraphNodeSetParams(exec, child, bad));
  LAST;
  cudaGraphInstantiateParams params = {};
  P("instantiate with params", cudaGraphInstantiateWithParams(&exec, bad, &params));
  LAST;
  P(" result", params.result_out);
}

static void launches() {
  cudaFunction_t function;
  cudaGetFuncBySymbol(&function, (void*)heavy);
  CUlaunchConfig c = {};
  c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimY = c.blockDimZ = 1;
  c.blockDimX = 1024;
  P("cuLaunchKernelEx", cuLaunchKernelEx(&c, (CUfunction)function, args, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 1024;
  P("ExC", cudaLaunchKernelExC(&config, (void*)heavy, args));
  LAST;
  cudaLaunchAttribute attribute[1];
  config.attrs = attribute;
  config.numAttrs = 1;
  attribute[0].id = cudaLaunchAttributeCooperative;
  attribute[0].val.cooperative = 1;
  P("ExC cooperative", cudaLaunchKernelExC(&config, (void*)heavy, args));
  LAST;
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim = {2, 1, 1};
  config.gridDim = 2;
  P("ExC cluster", cudaLaunchKernelExC(&config, (void*)heavy, args));
  LAST;
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = 1;
  P("ExC programmatic", cudaLaunchKernelExC(&config, (void*)heavy, args));
  LAST;
  P("sync", cudaDeviceSynchronize());
}

int main() {
  cudaMalloc(&d, 8192);
  cudaMemset(d, 0, 8192);
  bounds();
  graphs();
  launches();
}
