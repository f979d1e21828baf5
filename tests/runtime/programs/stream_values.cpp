// SPDX-License-Identifier: MIT
// Streams that wait for values in memory: written by another stream, by a kernel, by the host; in
// all the ways to compare; as a part of a graph; and what is wrong. And a host function that the
// driver's API waits for.
#include <cstdio>

#include "driver_program.h"
namespace {

constexpr int name_width = 26;

constexpr const char* ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 number, .param .u32 summand) {
  .reg .b64 %a<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %a0, [number];
  ld.param.u32 %r0, [summand];
  ld.global.u32 %r1, [%a0];
  add.u32 %r2, %r1, %r0;
  st.global.u32 [%a0], %r2;
  ret;
}
)";

CUfunction add = nullptr;

void launch(CUdeviceptr number, unsigned summand, CUstream stream) {
  void* arguments[] = {&number, &summand};
  SAY(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
}

unsigned value_of(CUdeviceptr number) {
  unsigned value = 0;
  cuMemcpyDtoH(&value, number, 4);
  return value;
}

/// Prints if a stream goes on behind such a wait at once.
void compare(CUstream stream, CUstream other, CUdeviceptr flag, unsigned there, unsigned wanted,
             unsigned flags) {
  cuStreamWriteValue32(stream, flag, there, 0);
  cuStreamSynchronize(stream);
  const CUresult given = cuStreamWaitValue32(stream, flag, wanted, flags);
  if (given != CUDA_SUCCESS) {
    std::printf("%s\n", name_of(given));
    return;
  }
  CUevent event = nullptr;
  cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  cuEventRecord(event, stream);
  CUresult state = CUDA_ERROR_NOT_READY;  // a GPU takes a moment
  for (int i = 0; i < 2000 && state == CUDA_ERROR_NOT_READY; ++i) state = cuEventQuery(event);
  std::printf("%x for %x (%u): %s\n", there, wanted, flags,
              state == CUDA_SUCCESS ? "goes on" : "waits");
  const unsigned released = flags == CU_STREAM_WAIT_VALUE_NOR ? 0 : wanted;
  cuStreamWriteValue32(other, flag, released, 0);
  cuStreamSynchronize(stream);
  cuEventDestroy(event);
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, ptx);
  cuModuleGetFunction(&add, module, "add");
  CUstream first = nullptr, second = nullptr;
  cuStreamCreate(&first, CU_STREAM_NON_BLOCKING);
  cuStreamCreate(&second, CU_STREAM_NON_BLOCKING);
  CUdeviceptr flag = 0, number = 0;
  cuMemAlloc(&flag, 64);
  cuMemAlloc(&number, 64);
  cuMemsetD8(flag, 0, 64);
  cuMemsetD8(number, 0, 64);

  launch(number, 0, first);  // a GPU may load the kernel at its first launch
  SAY(cuStreamSynchronize(first));

  // Another stream writes it.
  SAY(cuStreamWaitValue32(first, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
  launch(number, 5, first);
  SAY(cuStreamQuery(first));
  launch(number, 100, second);
  SAY(cuStreamWriteValue32(second, flag, 1, 0));
  SAY(cuStreamSynchronize(first));
  std::printf("%u %u\n", value_of(number), value_of(flag));

  // A kernel writes it.
  SAY(cuStreamWaitValue32(first, flag, 7, CU_STREAM_WAIT_VALUE_EQ));
  launch(number, 20, first);
  SAY(cuStreamQuery(first));
  launch(flag, 6, second);
  SAY(cuStreamSynchronize(first));
  std::printf("%u\n", value_of(number));

  // The host writes it, and streams that follow each other wait with it.
  void* pinned = nullptr;
  cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP);
  auto* host_flag = static_cast<volatile unsigned long long*>(pinned);
  *host_flag = 0;
  CUdeviceptr mapped = 0;
  cuMemHostGetDevicePointer(&mapped, pinned, 0);
  CUevent event = nullptr;
  cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  SAY(cuStreamWaitValue64(first, mapped, 1ull << 40, CU_STREAM_WAIT_VALUE_AND));
  SAY(cuEventRecord(event, first));
  SAY(cuStreamWaitEvent(second, event, 0));
  launch(number, 1000, second);
  SAY(cuStreamQuery(second));
  *host_flag = 3ull << 40;
  SAY(cuStreamSynchronize(second));
  std::printf("%u\n", value_of(number));

  // Several at once; a write that the same batch waits for.
  CUstreamBatchMemOpParams batch[4] = {};
  batch[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, flag + 8, {}, 0, 0};
  batch[0].writeValue.value64 = 5ull << 33;
  batch[1].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_64, flag + 8, {}, CU_STREAM_WAIT_VALUE_EQ, 0};
  batch[1].waitValue.value64 = 5ull << 33;
  batch[2].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, CU_STREAM_MEMORY_BARRIER_TYPE_GPU};
  batch[3].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, flag + 16, {}, 0, 0};
  batch[3].writeValue.value = 77;
  SAY(cuStreamBatchMemOp(first, 4, batch, 0));
  SAY(cuStreamSynchronize(first));
  std::printf("%u %u %u\n", value_of(flag + 8), value_of(flag + 12), value_of(flag + 16));

  // The ways to compare.
  compare(first, second, flag, 5, 5, CU_STREAM_WAIT_VALUE_GEQ);
  compare(first, second, flag, 4, 5, CU_STREAM_WAIT_VALUE_GEQ);
  compare(first, second, flag, 3, 0xfffffffe,
          CU_STREAM_WAIT_VALUE_GEQ);  // numbers go round in a circle
  compare(first, second, flag, 0x80000005, 5, CU_STREAM_WAIT_VALUE_GEQ);
  compare(first, second, flag, 6, 5, CU_STREAM_WAIT_VALUE_EQ);
  compare(first, second, flag, 6, 5, CU_STREAM_WAIT_VALUE_AND);
  compare(first, second, flag, 6, 1, CU_STREAM_WAIT_VALUE_AND);
  compare(first, second, flag, 0xfffffff0, 0xf, CU_STREAM_WAIT_VALUE_NOR);
  compare(first, second, flag, 0xfffffff0, 0x7, CU_STREAM_WAIT_VALUE_NOR);

  // In a graph.
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  cuMemsetD32(flag, 0, 1);
  cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL);
  SAY(cuStreamWaitValue32(first, flag, 9, CU_STREAM_WAIT_VALUE_EQ));
  launch(number, 7, first);
  SAY(cuStreamWriteValue32(first, flag, 10, 0));
  SAY(cuStreamEndCapture(first, &graph));
  SAY(cuGraphInstantiate(&executable, graph, 0));
  SAY(cuGraphLaunch(executable, first));
  SAY(cuStreamQuery(first));
  SAY(cuStreamWriteValue32(second, flag, 9, 0));
  SAY(cuStreamSynchronize(first));
  std::printf("%u %u\n", value_of(number), value_of(flag));

  // These calls are wrong.
  SAY(cuStreamWaitValue32(first, flag + 2, 1, 0));
  SAY(cuStreamWaitValue64(first, flag + 4, 1, 0));
  SAY(cuStreamWaitValue32(first, 0, 1, 0));
  SAY(cuStreamWriteValue32(first, flag + 1, 1, 0));
  SAY(cuStreamBatchMemOp(first, 256, batch, 0));
  SAY(cuStreamBatchMemOp(first, 1, batch, 1));

  // A host function. It runs on a thread of its own: what it did is printed when that is known.
  int calls = 0;
  const CUhostFn count = [](void* told) { ++*static_cast<int*>(told); };
  SAY(cuLaunchHostFunc(first, count, &calls));
  SAY(cuStreamSynchronize(first));
  std::printf("%d on the host\n", calls);
}
