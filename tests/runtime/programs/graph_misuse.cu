// SPDX-License-Identifier: MIT
// Graphs built, changed and executed, and memory of theirs, the wrong ways too.
#include <cstdio>

#include "runtime_program.h"
namespace {

__global__ void add(int* p, int v) { *p = *p + v; }
__global__ void mul(int* p, int v) { *p = *p * v; }

void nodes() {
  int *d, h = 0;
  cudaMalloc(&d, 64);
  cudaMemset(d, 0, 64);
  cudaGraph_t g, c;
  cudaGraphExec_t x;
  cudaGraphNode_t a, b, m, hst, cp, ch, em;
  R(cudaGraphCreate(&g, 0));
  int v3 = 3, v5 = 5;
  void* pa[] = {&d, &v3};
  void* pb[] = {&d, &v5};
  cudaKernelNodeParams ka = {};
  ka.func = (void*)add;
  ka.gridDim = 1;
  ka.blockDim = 1;
  ka.kernelParams = pa;
  cudaKernelNodeParams kb = ka;
  kb.func = (void*)mul;
  kb.kernelParams = pb;
  R(cudaGraphAddKernelNode(&a, g, nullptr, 0, &ka));
  R(cudaGraphAddKernelNode(&b, g, &a, 1, &kb));
  R(cudaGraphAddMemcpyNode1D(&cp, g, &b, 1, &h, d, 4, cudaMemcpyDeviceToHost));
  static int seen;
  cudaHostNodeParams hp = {[](void* u) { seen = *(int*)u + 1000; }, &h};
  R(cudaGraphAddHostNode(&hst, g, &cp, 1, &hp));
  cudaMemsetParams ms = {};
  ms.dst = d;
  ms.elementSize = 4;
  ms.value = 7;
  ms.width = 1;
  ms.height = 1;
  R(cudaGraphAddMemsetNode(&m, g, nullptr, 0, &ms));
  R(cudaGraphAddDependencies(g, &m, &a, nullptr, 1));
  R(cudaGraphAddDependencies(g, &m, &a, nullptr, 1));
  R(cudaGraphAddDependencies(g, &a, &a, nullptr, 1));
  R(cudaGraphAddDependencies(g, &hst, &m, nullptr, 1));
  R(cudaGraphInstantiate(&x, g, 0));
  R(cudaGraphRemoveDependencies(g, &hst, &m, nullptr, 1));
  R(cudaGraphRemoveDependencies(g, &hst, &m, nullptr, 1));
  size_t n = 0;
  R(cudaGraphGetNodes(g, nullptr, &n));
  I(n);
  R(cudaGraphGetRootNodes(g, nullptr, &n));
  I(n);
  cudaGraphNode_t r[8];
  n = 8;
  R(cudaGraphGetRootNodes(g, r, &n));
  I(n);
  I(r[0] == m);
  R(cudaGraphNodeGetDependencies(a, nullptr, nullptr, &n));
  I(n);
  R(cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &n));
  I(n);
  R(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &n));
  I(n);
  cudaGraphNodeType ty;
  for (auto z : {a, m, cp, hst}) {
    R(cudaGraphNodeGetType(z, &ty));
    I(ty);
  }
  R(cudaGraphInstantiate(&x, g, 0));
  R(cudaGraphLaunch(x, 0));
  R(cudaDeviceSynchronize());
  I(h);
  I(seen);
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  v3 = 100;
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  v3 = 4;
  R(cudaGraphExecKernelNodeSetParams(x, a, &ka));
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  ms.value = 1;
  R(cudaGraphExecMemsetNodeSetParams(x, m, &ms));
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  R(cudaGraphExecKernelNodeSetParams(x, m, &ka));
  kb.func = (void*)add;
  R(cudaGraphExecKernelNodeSetParams(x, b, &kb));
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  kb.gridDim = 0;
  R(cudaGraphExecKernelNodeSetParams(x, b, &kb));
  kb.gridDim = 1;
  ms.elementSize = 3;
  R(cudaGraphExecMemsetNodeSetParams(x, m, &ms));
  ms.elementSize = 4;
  ms.height = 2;
  R(cudaGraphExecMemsetNodeSetParams(x, m, &ms));
  ms.height = 1;
  cudaKernelNodeParams got;
  R(cudaGraphKernelNodeGetParams(a, &got));
  I(got.func == (void*)add);
  I(*(int*)got.kernelParams[1]);
  I(got.gridDim.x);
  R(cudaGraphKernelNodeGetParams(m, &got));
  cudaMemsetParams gm;
  R(cudaGraphMemsetNodeGetParams(m, &gm));
  I(gm.value);
  I(gm.width);
  I(gm.dst == d);
  unsigned en;
  R(cudaGraphNodeSetEnabled(x, b, 0));
  R(cudaGraphNodeGetEnabled(x, b, &en));
  I(en);
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  R(cudaGraphNodeSetEnabled(x, hst, 0));
  R(cudaGraphNodeSetEnabled(x, b, 1));
  cudaGraphExecUpdateResultInfo ui;
  R(cudaGraphExecUpdate(x, g, &ui));
  I(ui.result);
  R(cudaGraphLaunch(x, 0));
  cudaDeviceSynchronize();
  I(h);
  R(cudaGraphAddEmptyNode(&em, g, &hst, 1));
  R(cudaGraphExecUpdate(x, g, &ui));
  I(ui.result);
  R(cudaGraphDestroyNode(em));
  R(cudaGraphExecUpdate(x, g, &ui));
  I(ui.result);
  cudaGraphNode_t cn;
  R(cudaGraphClone(&c, g));
  R(cudaGraphNodeFindInClone(&cn, a, c));
  R(cudaGraphNodeGetType(cn, &ty));
  I(ty);
  R(cudaGraphNodeFindInClone(&cn, cn, c));
  kb.func = (void*)mul;
  R(cudaGraphKernelNodeSetParams(b, &kb));
  cudaGraph_t par;
  cudaGraphExec_t px;
  R(cudaGraphCreate(&par, 0));
  R(cudaGraphAddChildGraphNode(&ch, par, nullptr, 0, g));
  R(cudaGraphAddKernelNode(&a, par, &ch, 1, &ka));
  R(cudaGraphAddMemcpyNode1D(&cp, par, &a, 1, &h, d, 4, cudaMemcpyDeviceToHost));
  cudaGraph_t in;
  R(cudaGraphChildGraphNodeGetGraph(ch, &in));
  I(in != g);
  R(cudaGraphGetNodes(in, nullptr, &n));
  I(n);
  R(cudaGraphDestroy(g));
  R(cudaGraphInstantiate(&px, par, 0));
  R(cudaGraphDestroy(par));
  R(cudaGraphLaunch(px, 0));
  cudaDeviceSynchronize();
  I(h);
  R(cudaGraphUpload(px, 0));
  unsigned long long fl;
  R(cudaGraphExecGetFlags(px, &fl));
  I(fl);
  R(cudaGraphInstantiate(&px, c, 0x100));
  R(cudaGraphInstantiate(&px, c, cudaGraphInstantiateFlagUseNodePriority));
  R(cudaGraphExecGetFlags(px, &fl));
  I(fl);
  cudaGraphNodeParams np = {cudaGraphNodeTypeKernel};
  np.kernel.func = (void*)add;
  np.kernel.gridDim = 1;
  np.kernel.blockDim = 1;
  np.kernel.kernelParams = pb;
  R(cudaGraphAddNode(&cn, c, nullptr, nullptr, 0, &np));
  np.type = (cudaGraphNodeType)99;
  R(cudaGraphAddNode(&cn, c, nullptr, nullptr, 0, &np));
  kb.blockDim = 2000;
  R(cudaGraphAddKernelNode(&cn, c, nullptr, 0, &kb));
  kb.blockDim = 1;
  kb.func = nullptr;
  R(cudaGraphAddKernelNode(&cn, c, nullptr, 0, &kb));
  R(cudaGraphAddMemcpyNode1D(&cn, c, nullptr, 0, &h, d, 0, cudaMemcpyDeviceToHost));
  R(cudaGraphAddMemcpyNode1D(&cn, c, nullptr, 0, nullptr, d, 4, cudaMemcpyDeviceToHost));
  R(cudaGraphAddMemcpyNode1D(&cn, c, nullptr, 0, &h, d, 4, (cudaMemcpyKind)9));
  ms.dst = nullptr;
  R(cudaGraphAddMemsetNode(&cn, c, nullptr, 0, &ms));
  hp.fn = nullptr;
  R(cudaGraphAddHostNode(&cn, c, nullptr, 0, &hp));
  R(cudaGraphExecDestroy(x));
  R(cudaGraphDestroy(c));
}

__global__ void fill(int* p, int v) { p[threadIdx.x] = v + threadIdx.x; }
__global__ void sum(const int* p, int* o) {
  int s = 0;
  for (int i = 0; i < 32; ++i) s += p[i];
  *o += s;
}

void memory() {
  int *o, h = 0;
  cudaMalloc(&o, 4);
  cudaMemset(o, 0, 4);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaGraph_t g;
  cudaGraphExec_t x, y;
  unsigned long long v = 9;
  auto mem = [&] {
    for (auto a : {cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh,
                   cudaGraphMemAttrReservedMemCurrent, cudaGraphMemAttrReservedMemHigh}) {
      R(cudaDeviceGetGraphMemAttribute(0, a, &v));
      printf("attr %d = %llu\n", a, v);
    }
  };
  mem();
  R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  int* t;
  R(cudaMallocAsync(&t, 128, s));
  fill<<<1, 32, 0, s>>>(t, 5);
  sum<<<1, 1, 0, s>>>(t, o);
  R(cudaFreeAsync(t, s));
  R(cudaStreamEndCapture(s, &g));
  size_t n;
  R(cudaGraphGetNodes(g, nullptr, &n));
  I(n);
  R(cudaGraphInstantiate(&x, g, 0));
  for (int i = 0; i < 3; ++i) R(cudaGraphLaunch(x, s));
  R(cudaStreamSynchronize(s));
  R(cudaMemcpy(&h, o, 4, cudaMemcpyDeviceToHost));
  I(h);
  R(cudaGraphInstantiate(&y, g, 0));
  cudaGraph_t c;
  R(cudaGraphClone(&c, g));
  cudaGraphNode_t nd[8];
  n = 8;
  R(cudaGraphGetNodes(g, nd, &n));
  for (size_t i = 0; i < n; ++i) {
    cudaGraphNodeType ty;
    cudaGraphNodeGetType(nd[i], &ty);
    printf("node %d\n", ty);
  }
  R(cudaGraphDestroyNode(nd[0]));
  mem();
  R(cudaDeviceGraphMemTrim(0));
  mem();
  v = 0;
  R(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v));
  v = 5;
  R(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v));
  R(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &v));
  R(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)44, &v));
  R(cudaGraphExecDestroy(x));
  R(cudaGraphDestroy(g));
  // a graph that allocates and does not free
  cudaGraphNode_t al, kn, kn2;
  R(cudaGraphCreate(&g, 0));
  cudaMemAllocNodeParams ap = {};
  ap.bytesize = 128;
  ap.poolProps.allocType = cudaMemAllocationTypePinned;
  ap.poolProps.location = {cudaMemLocationTypeDevice, 0};
  R(cudaGraphAddMemAllocNode(&al, g, nullptr, 0, &ap));
  I(ap.dptr != nullptr);
  int* p = (int*)ap.dptr;
  int val = 10;
  void* a1[] = {&p, &val};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)fill;
  kp.gridDim = 1;
  kp.blockDim = 32;
  kp.kernelParams = a1;
  R(cudaGraphAddKernelNode(&kn, g, &al, 1, &kp));
  R(cudaGraphInstantiate(&x, g, 0));
  R(cudaGraphLaunch(x, s));
  R(cudaStreamSynchronize(s));
  int b[32];
  R(cudaMemcpy(b, p, 128, cudaMemcpyDeviceToHost));
  I(b[31]);
  R(cudaGraphLaunch(x, s));
  R(cudaFree(p));
  R(cudaGraphLaunch(x, s));
  R(cudaFreeAsync(p, s));
  R(cudaStreamSynchronize(s));
  R(cudaGraphExecDestroy(x));
  R(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  R(cudaGraphLaunch(x, s));
  R(cudaGraphLaunch(x, s));
  R(cudaStreamSynchronize(s));
  R(cudaMemcpy(b, p, 128, cudaMemcpyDeviceToHost));
  I(b[1]);
  R(cudaGraphAddMemFreeNode(&kn2, g, &kn, 1, nullptr));
  R(cudaGraphAddMemFreeNode(&kn2, g, &kn, 1, o));
  ap.bytesize = 0;
  R(cudaGraphAddMemAllocNode(&al, g, nullptr, 0, &ap));
  mem();
  R(cudaDeviceSynchronize());
}

}  // namespace

int main() {
  nodes();
  memory();
}
