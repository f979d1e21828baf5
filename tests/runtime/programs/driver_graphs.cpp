// SPDX-License-Identifier: MIT
// Graphs by the driver's API: every kind of node in the driver's words, asked for and changed, in
// the graph and in what is executed; and streams that wait for functions of the host.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "driver_program.h"
namespace {

constexpr int name_width = 36;

constexpr const char* source = R"(
extern "C" __global__ void add(int* data, int value) { data[threadIdx.x] += value; }
extern "C" __global__ void scale(int* data, int factor) { data[threadIdx.x] *= factor; }
)";

constexpr int n = 32;
int host[n], numbers[n];

/// A function of the host says it, which runs in a thread of the driver's.
std::atomic<const char*> heard{"nothing"};
void CUDA_CB speak(void* text) { heard = static_cast<const char*>(text); }
std::atomic<bool> is_gone{false};
void CUDA_CB go(void*) { is_gone = true; }
void CUDA_CB take_time(void*) { usleep(20000); }

CUDA_KERNEL_NODE_PARAMS kernel_node(CUfunction function, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = function;
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = n;
  parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  return parameters;
}

CUDA_MEMCPY3D copy_node(CUdeviceptr device, void* memory, bool to_device) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  if (to_device) {
    copy.srcHost = memory;
    copy.dstDevice = device;
  } else {
    copy.srcDevice = device;
    copy.dstHost = memory;
  }
  copy.WidthInBytes = n * sizeof(int);
  copy.Height = copy.Depth = 1;
  return copy;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUfunction add = nullptr, scale = nullptr;
  CUkernel scale_of_library = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  const std::string ptx = compiled(source, "graph.cu");
  SAY(cuModuleLoadData(&module, ptx.c_str()));
  SAY(cuModuleGetFunction(&add, module, "add"));
  SAY(cuModuleGetFunction(&scale, module, "scale"));
  SAY(cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  SAY(cuLibraryGetKernel(&scale_of_library, library, "scale"));
  SAY(cuMemAlloc(&data, n * sizeof(int)));
  SAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (int i = 0; i < n; ++i) numbers[i] = i;

  // numbers → data, + 5, * 3 (by a library's kernel), → host, spoken of; then data is set to 9s.
  CUgraph graph = nullptr;
  CUgraphNode up, adds, scales, down, speaks, sets, empty;
  SAY(cuGraphCreate(&graph, 0));
  CUDA_MEMCPY3D copy = copy_node(data, numbers, true);
  SAY(cuGraphAddMemcpyNode(&up, graph, nullptr, 0, &copy, context));
  int value = 5, factor = 3;
  void* arguments[] = {&data, &value};
  CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(add, arguments);
  SAY(cuGraphAddKernelNode(&adds, graph, &up, 1, &kernel));
  struct {
    CUdeviceptr data;
    int factor;
  } packed = {data, factor};
  std::size_t size = offsetof(decltype(packed), factor) + sizeof factor;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  kernel.extra = extra;
  SAY(cuGraphAddKernelNode(&scales, graph, &adds, 1, &kernel));  // both ways
  kernel = kernel_node(nullptr, nullptr);
  kernel.extra = extra;
  SAY(cuGraphAddKernelNode(&scales, graph, &adds, 1, &kernel));  // for nothing
  kernel.kern = scale_of_library;
  SAY(cuGraphAddKernelNode(&scales, graph, &adds, 1, &kernel));
  copy = copy_node(data, host, false);
  SAY(cuGraphAddMemcpyNode(&down, graph, &scales, 1, &copy, context));
  CUDA_HOST_NODE_PARAMS words{speak, const_cast<char*>("copied")};
  SAY(cuGraphAddHostNode(&speaks, graph, &down, 1, &words));
  CUDA_MEMSET_NODE_PARAMS nines{data, 0, 9, 4, n, 1};
  SAY(cuGraphAddMemsetNode(&sets, graph, nullptr, 0, &nines, context));
  SAY(cuGraphAddDependencies(graph, &down, &sets, nullptr, 1));
  SAY(cuGraphAddDependencies(graph, &down, &sets, nullptr, 1));  // there already
  SAY(cuGraphAddEmptyNode(&empty, graph, &sets, 1));

  // The numbers of nodes and edges.
  std::size_t nodes = 0, roots = 0, edges = 0, before = 0, behind = 0;
  SAY(cuGraphGetNodes(graph, nullptr, &nodes));
  SAY(cuGraphGetRootNodes(graph, nullptr, &roots));
  SAY(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  SAY(cuGraphNodeGetDependencies(down, nullptr, nullptr, &before));
  SAY(cuGraphNodeGetDependentNodes(down, nullptr, nullptr, &behind));
  std::printf("nodes %zu, roots %zu, edges %zu, before %zu, behind %zu\n", nodes, roots, edges,
              before, behind);
  CUgraphNode one = nullptr;
  std::size_t room = 1;
  SAY(cuGraphNodeGetDependencies(scales, &one, nullptr, &room));
  std::printf("%zu, the kernel before: %d\n", room, one == adds);
  for (CUgraphNode node : {up, adds, speaks, sets, empty}) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_GRAPH;
    cuGraphNodeGetType(node, &type);
    std::printf("type %d\n", type);
  }
  CUDA_KERNEL_NODE_PARAMS known{};
  SAY(cuGraphKernelNodeGetParams(adds, &known));
  std::printf("block of %u, the function: %d, adds %d\n", known.blockDimX, known.func == add,
              *static_cast<int*>(known.kernelParams[1]));
  SAY(cuGraphKernelNodeGetParams(up, &known));
  CUDA_MEMCPY3D told{};
  SAY(cuGraphMemcpyNodeGetParams(down, &told));
  std::printf("from %d to %d, %zu bytes, %d %d\n", told.srcMemoryType, told.dstMemoryType,
              told.WidthInBytes, told.srcDevice == data, told.dstHost == host);
  CUDA_MEMSET_NODE_PARAMS set{};
  SAY(cuGraphMemsetNodeGetParams(sets, &set));
  std::printf("%zu times %u of %u bytes\n", set.width, set.value, set.elementSize);
  CUDA_HOST_NODE_PARAMS said{};
  SAY(cuGraphHostNodeGetParams(speaks, &said));
  std::printf("says %s\n", static_cast<const char*>(said.userData));

  // The executable runs, and is changed.
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  SAY(cuGraphInstantiateWithParams(&exec, graph, &how));
  std::printf("result %d\n", how.result_out);
  SAY(cuGraphLaunch(exec, stream));
  SAY(cuStreamSynchronize(stream));
  std::printf("%s\n", heard.exchange("nothing"));
  std::printf("%d %d\n", host[0], host[n - 1]);
  value = 100;
  kernel = kernel_node(add, arguments);
  SAY(cuGraphExecKernelNodeSetParams(exec, adds, &kernel));
  SAY(cuGraphNodeSetEnabled(exec, scales, 0));
  unsigned is_enabled = 1;
  SAY(cuGraphNodeGetEnabled(exec, scales, &is_enabled));
  std::printf("enabled: %u\n", is_enabled);
  SAY(cuGraphNodeSetEnabled(exec, speaks, 0));  // not of functions of the host
  SAY(cuGraphLaunch(exec, stream));
  SAY(cuStreamSynchronize(stream));
  std::printf("%s\n", heard.exchange("nothing"));
  std::printf("%d %d\n", host[0], host[n - 1]);
  nines.value = 4;
  SAY(cuGraphMemsetNodeSetParams(sets, &nines));
  CUgraphExecUpdateResultInfo updated{};
  SAY(cuGraphExecUpdate(exec, graph, &updated));
  std::printf("result %d\n", updated.result);
  SAY(cuGraphNodeSetEnabled(exec, scales, 1));
  SAY(cuGraphLaunch(exec, stream));
  SAY(cuStreamSynchronize(stream));
  std::printf("%s\n", heard.exchange("nothing"));
  SAY(cuMemcpyDtoH(numbers, data, sizeof numbers));
  std::printf("%d %d, data %d\n", host[0], host[n - 1], numbers[n - 1]);
  SAY(cuGraphDestroyNode(empty));
  SAY(cuGraphExecUpdate(exec, graph, &updated));
  std::printf("topology changed: %d\n",
              updated.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  SAY(cuGraphExecDestroy(exec));

  // A copy of it in another graph, whose memory is its own.
  CUgraph clone = nullptr, parent = nullptr;
  CUgraphNode child, found, allocates, fills, reads, frees;
  SAY(cuGraphClone(&clone, graph));
  SAY(cuGraphNodeFindInClone(&found, adds, clone));
  std::printf("another node: %d\n", found != adds);
  CUuserObject object = nullptr;
  SAY(cuUserObjectCreate(&object, nullptr, go, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SAY(cuGraphRetainUserObject(clone, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  SAY(cuGraphDestroy(clone));
  for (int turn = 0; turn < 1000 && !is_gone; ++turn) usleep(1000);  // when the driver gets to it
  std::printf("object gone: %d\n", is_gone.load());
  SAY(cuGraphCreate(&parent, 0));
  SAY(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  CUDA_MEM_ALLOC_NODE_PARAMS memory{};
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.bytesize = n * sizeof(int);
  SAY(cuGraphAddMemAllocNode(&allocates, parent, &child, 1, &memory));
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset.dst = memory.dptr;
  any.memset.value = 6;
  any.memset.elementSize = 4;
  any.memset.width = n;
  any.memset.height = 1;
  SAY(cuGraphAddNode(&fills, parent, &allocates, nullptr, 1, &any));  // in no context
  any.memset.ctx = context;
  SAY(cuGraphAddNode(&fills, parent, &allocates, nullptr, 1, &any));
  any = {};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  void* others[] = {&memory.dptr, &factor};
  any.kernel.func = scale;
  any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
  any.kernel.blockDimX = n;
  any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  any.kernel.kernelParams = others;
  CUgraphNode triples;
  SAY(cuGraphAddNode(&triples, parent, &fills, nullptr, 1, &any));
  any = {};
  any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  any.memcpy.copyCtx = context;
  any.memcpy.copyParams = copy_node(memory.dptr, numbers, false);
  SAY(cuGraphAddNode(&reads, parent, &triples, nullptr, 1, &any));
  SAY(cuGraphAddMemFreeNode(&frees, parent, &reads, 1, memory.dptr));
  CUdeviceptr freed = 0;
  SAY(cuGraphMemFreeNodeGetParams(frees, &freed));
  std::printf("its own: %d\n", freed == memory.dptr);
  SAY(cuGraphInstantiate(&exec, parent, 0));
  SAY(cuGraphLaunch(exec, stream));
  SAY(cuStreamSynchronize(stream));
  std::printf("%s\n", heard.exchange("nothing"));
  std::printf("%d %d\n", numbers[0], numbers[n - 1]);
  SAY(cuGraphExecDestroy(exec));
  SAY(cuGraphDestroy(parent));
  SAY(cuGraphDestroy(graph));

  // A circle cannot be executed.
  SAY(cuGraphCreate(&graph, 0));
  CUgraphNode a, b;
  cuGraphAddEmptyNode(&a, graph, nullptr, 0);
  cuGraphAddEmptyNode(&b, graph, &a, 1);
  SAY(cuGraphAddDependencies(graph, &b, &a, nullptr, 1));
  SAY(cuGraphInstantiate(&exec, graph, 0));
  SAY(cuGraphDestroy(graph));

  // The host waits for it while a function of the host runs.
  CUevent event = nullptr;
  SAY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  SAY(cuLaunchHostFunc(stream, take_time, nullptr));
  SAY(cuEventRecord(event, stream));
  SAY(cuEventSynchronize(event));
  SAY(cuLaunchHostFunc(stream, take_time, nullptr));
  SAY(cuStreamSynchronize(stream));
  SAY(cuCtxSynchronize());
}
