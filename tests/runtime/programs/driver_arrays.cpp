// SPDX-License-Identifier: MIT
// Arrays by the driver's API, copies of boxes between contexts, batches, shared memory's and
// events' handles of this process, and the log.
#include <cstdio>
#include <cstring>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 26;

void CUDA_CB hear(void*, CUlogLevel, char* message, std::size_t) { std::printf("%s\n", message); }

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  SAY(cuStreamCreate(&stream, CU_STREAM_DEFAULT));

  CUDA_ARRAY_DESCRIPTOR wanted{}, told{};
  wanted.Width = 64;
  wanted.Format = CU_AD_FORMAT_FLOAT;
  wanted.NumChannels = 1;
  CUarray line = nullptr, other = nullptr, box = nullptr, none = nullptr;
  SAY(cuArrayCreate(&line, &wanted));
  SAY(cuArrayCreate(&other, &wanted));
  SAY(cuArrayGetDescriptor(&told, line));
  std::printf("%zu x %zu, format %d, %u\n", told.Width, told.Height, told.Format, told.NumChannels);
  wanted.NumChannels = 3;
  SAY(cuArrayCreate(&none, &wanted));
  CUDA_ARRAY3D_DESCRIPTOR deep{}, known{};
  deep.Width = 8;
  deep.Height = 4;
  deep.Depth = 2;
  deep.Format = CU_AD_FORMAT_UNSIGNED_INT16;
  deep.NumChannels = 2;
  SAY(cuArray3DCreate(&box, &deep));
  SAY(cuArray3DGetDescriptor(&known, box));
  std::printf("%zu x %zu x %zu, format %d, %u\n", known.Width, known.Height, known.Depth,
              known.Format, known.NumChannels);

  std::vector<float> from(64), back(64);
  for (int i = 0; i < 64; ++i) from[i] = static_cast<float>(i);
  CUdeviceptr memory = 0;
  SAY(cuMemAlloc(&memory, 256));
  SAY(cuMemcpyHtoA(line, 0, from.data(), 256));
  SAY(cuMemcpyAtoA(other, 128, line, 0, 128));
  SAY(cuMemcpyAtoD(memory, other, 128, 128));
  SAY(cuMemcpyDtoA(line, 0, memory + 64, 64));
  SAY(cuMemcpyAtoHAsync(back.data(), line, 0, 256, stream));
  SAY(cuStreamSynchronize(stream));
  std::printf("%g %g %g\n", back[0], back[15], back[16]);
  SAY(cuMemcpyHtoAAsync(line, 4, from.data(), 8, stream));
  SAY(cuStreamSynchronize(stream));
  SAY(cuMemcpyAtoH(back.data(), line, 0, 256));
  std::printf("%g %g %g %g\n", back[0], back[1], back[2], back[3]);
  SAY(cuMemcpyHtoA(line, 128, from.data(), 256));

  // A box, between contexts.
  CUDA_MEMCPY3D_PEER peer{};
  std::vector<unsigned short> numbers(2 * 8 * 4 * 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<unsigned short>(i);
  peer.srcMemoryType = CU_MEMORYTYPE_HOST;
  peer.srcHost = numbers.data();
  peer.srcPitch = 32;
  peer.srcHeight = 4;
  peer.srcContext = context;
  peer.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  peer.dstArray = box;
  peer.dstContext = context;
  peer.WidthInBytes = 32;
  peer.Height = 4;
  peer.Depth = 2;
  SAY(cuMemcpy3DPeerAsync(&peer, stream));
  SAY(cuStreamSynchronize(stream));
  CUDA_MEMCPY3D down{};
  unsigned short few[4] = {};
  down.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  down.srcArray = box;
  down.srcXInBytes = 8;
  down.srcY = 3;
  down.srcZ = 1;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = few;
  down.WidthInBytes = sizeof few;
  down.Height = down.Depth = 1;
  SAY(cuMemcpy3D(&down));
  std::printf("%d %d\n", few[0], few[3]);

  // A batch.
  CUdeviceptr to[] = {memory}, sources[] = {reinterpret_cast<CUdeviceptr>(from.data())};
  std::size_t sizes[] = {256}, indices[] = {0};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  SAY(cuMemcpyBatchAsync(to, sources, sizes, 1, &attributes, indices, 1, stream));
  SAY(cuMemcpyDtoHAsync(back.data(), memory, 256, stream));
  SAY(cuStreamSynchronize(stream));
  std::printf("%g\n", back[63]);
  SAY(cuMemcpyBatchAsync(to, sources, sizes, 1, &attributes, indices, 0, stream));

  // Handles for other processes, in this one.
  CUipcMemHandle handle{};
  CUipcEventHandle event_handle{};
  CUevent event = nullptr;
  CUdeviceptr opened = 0;
  SAY(cuIpcGetMemHandle(&handle, memory));
  SAY(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  SAY(cuIpcCloseMemHandle(memory));
  SAY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
  SAY(cuIpcGetEventHandle(&event_handle, event));
  SAY(cuMemcpyDtoH(back.data(), memory, 256));
  std::printf("%g\n", back[62]);

  SAY(cuArrayDestroy(line));
  SAY(cuArrayDestroy(other));
  SAY(cuArrayDestroy(box));
  SAY(cuMemFree(memory));

  // Nothing has gone wrong since then.
  CUlogsCallbackHandle listener = nullptr;
  CUlogIterator now = 0;
  SAY(cuLogsRegisterCallback(hear, nullptr, &listener));
  SAY(cuLogsCurrent(&now, 0));
  char text[1024] = "as it was";
  std::size_t size = sizeof text;
  SAY(cuLogsDumpToMemory(&now, text, &size, 0));
  std::printf("%zu bytes of log\n", size);
  SAY(cuLogsUnregisterCallback(listener));
}
