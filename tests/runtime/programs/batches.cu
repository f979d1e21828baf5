// SPDX-License-Identifier: MIT
// Copies in batches, of boxes between devices, and of arrays; prefetches and discards in batches.
#include <unistd.h>

#include <cstdio>
#include <cstring>
__global__ void twice(int* data) { data[threadIdx.x] *= 2; }

#define SAY(call) std::printf("%-30s %s\n", cudaGetErrorName(call), #call)

static void CUDART_CB take_time(void*) { usleep(20000); }

constexpr int n = 32;

static void in_batches(cudaStream_t stream) {
  int *a = nullptr, *b = nullptr, from[n], back[n] = {}, second[n] = {};
  SAY(cudaMalloc(&a, sizeof from));
  SAY(cudaMalloc(&b, sizeof from));
  for (int i = 0; i < n; ++i) from[i] = i;
  void* to[] = {a, b};
  const void* sources[] = {from, from};
  size_t sizes[] = {sizeof from, sizeof from / 2};
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  size_t indices[] = {0, 1};
  SAY(cudaMemset(b, 0, sizeof from));
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 2, attributes, indices, 2, stream));
  twice<<<1, n, 0, stream>>>(a);
  void* home[] = {back, second};
  const void* there[] = {a, b};
  sizes[1] = sizeof from;
  SAY(cudaMemcpyBatchAsync(home, there, sizes, 2, attributes, indices, 1, stream));
  SAY(cudaStreamSynchronize(stream));
  std::printf("%d, %d %d\n", back[n - 1], second[n / 2 - 1], second[n - 1]);

  // A source that is another one when its turn comes.
  int passing[n];
  for (int i = 0; i < n; ++i) passing[i] = 100 + i;
  sources[0] = passing;
  SAY(cudaLaunchHostFunc(stream, take_time, nullptr));
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 1, attributes + 1, indices, 1, stream));
  std::memset(passing, 0, sizeof passing);
  SAY(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream));
  SAY(cudaStreamSynchronize(stream));
  std::printf("%d %d\n", back[0], back[n - 1]);

  // These do not exist.
  size_t late[] = {1, 2}, falling[] = {0, 0};
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 2, attributes, late, 2, stream));
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 2, attributes, falling, 2, stream));
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 1, attributes, indices, 2, stream));
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 2, attributes, indices, 2, nullptr));
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  SAY(cudaMemcpyBatchAsync(to, sources, sizes, 2, attributes, indices, 2, stream));
  SAY(cudaFree(a));
  SAY(cudaFree(b));
}

static void of_boxes(cudaStream_t stream) {
  // 4 rows of 8 ints into an array, from its row 1 and column 2 on; then 2 rows of that.
  int from[4][8], back[2][8] = {};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) from[y][x] = 10 * y + x;
  }
  cudaArray_t array = nullptr, other = nullptr;
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  SAY(cudaMalloc3DArray(&array, &ints, make_cudaExtent(16, 8, 0), cudaArrayDefault));
  SAY(cudaMallocArray(&other, &ints, 16, 8));
  cudaMemcpy3DBatchOp up{};
  up.src.type = cudaMemcpyOperandTypePointer;
  up.src.op.ptr.ptr = from;
  up.dst.type = cudaMemcpyOperandTypeArray;
  up.dst.op.array.array = array;
  up.dst.op.array.offset = {2, 1, 0};
  up.extent = make_cudaExtent(8, 4, 1);
  up.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  SAY(cudaMemcpy3DBatchAsync(1, &up, 0, stream));
  cudaMemcpy3DBatchOp down{};
  down.src.type = cudaMemcpyOperandTypeArray;
  down.src.op.array.array = array;
  down.src.op.array.offset = {3, 2, 0};
  down.dst.type = cudaMemcpyOperandTypePointer;
  down.dst.op.ptr.ptr = back;
  down.dst.op.ptr.rowLength = 8;
  down.extent = make_cudaExtent(3, 2, 1);
  down.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  SAY(cudaMemcpy3DBatchAsync(1, &down, 0, stream));
  SAY(cudaStreamSynchronize(stream));
  std::printf("%d %d %d, %d %d %d\n", back[0][0], back[0][2], back[0][3], back[1][0], back[1][2],
              back[1][3]);
  down.extent.depth = 0;
  SAY(cudaMemcpy3DBatchAsync(1, &down, 0, stream));
  down.extent.depth = 1;
  down.dst.op.ptr.rowLength = 2;
  SAY(cudaMemcpy3DBatchAsync(1, &down, 0, stream));
  SAY(cudaMemcpy3DBatchAsync(1, &up, 1, stream));

  // Arrays by themselves.
  cudaChannelFormatDesc channels{};
  SAY(cudaGetChannelDesc(&channels, array));
  std::printf("%d %d %d\n", channels.x, channels.y, channels.f);
  SAY(cudaMemcpy2DArrayToArray(other, 0, 0, array, 8, 1, 32, 4, cudaMemcpyDeviceToDevice));
  SAY(cudaMemcpy2DFromArrayAsync(back, 32, other, 0, 1, 32, 2, cudaMemcpyDeviceToHost, stream));
  SAY(cudaStreamSynchronize(stream));
  std::printf("%d %d\n", back[0][0], back[1][7]);
  SAY(cudaMemcpy2DToArrayAsync(other, 4, 0, from, 32, 32, 1, cudaMemcpyHostToDevice, stream));
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaMemcpy2DFromArray(back, 32, other, 4, 0, 32, 1, cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", back[0][0], back[0][7]);
  SAY(cudaMemcpy2DToArrayAsync(other, 40, 0, from, 32, 32, 1, cudaMemcpyHostToDevice, stream));
  SAY(cudaMemcpy2DToArrayAsync(other, 0, 0, from, 16, 32, 2, cudaMemcpyHostToDevice, stream));
  SAY(cudaFreeArray(array));
  SAY(cudaFreeArray(other));

  // Between devices: here, one.
  cudaPitchedPtr a{}, b{};
  SAY(cudaMalloc3D(&a, make_cudaExtent(32, 4, 2)));
  SAY(cudaMalloc3D(&b, make_cudaExtent(32, 4, 2)));
  SAY(cudaMemset3D(a, 5, make_cudaExtent(32, 4, 2)));
  SAY(cudaMemset3D(b, 0, make_cudaExtent(32, 4, 2)));
  cudaMemcpy3DPeerParms peer{};
  peer.srcPtr = a;
  peer.dstPtr = b;
  peer.dstPos = make_cudaPos(4, 1, 1);
  peer.extent = make_cudaExtent(8, 2, 1);
  SAY(cudaMemcpy3DPeer(&peer));
  peer.dstPos.y = 0;
  SAY(cudaMemcpy3DPeerAsync(&peer, stream));
  SAY(cudaStreamSynchronize(stream));
  unsigned char row[32] = {};
  const char* second = static_cast<const char*>(b.ptr) + b.pitch * b.ysize;
  SAY(cudaMemcpy(row, second + 2 * b.pitch, sizeof row, cudaMemcpyDeviceToHost));
  std::printf("%d %d %d %d\n", row[3], row[4], row[11], row[12]);
  SAY(cudaMemcpy(row, second, sizeof row, cudaMemcpyDeviceToHost));
  std::printf("%d %d %d %d\n", row[3], row[4], row[11], row[12]);
  peer.srcDevice = 99;
  SAY(cudaMemcpy3DPeer(&peer));
  SAY(cudaMemcpyPeer(a.ptr, 99, b.ptr, 0, 16));
  SAY(cudaMemcpyPeerAsync(a.ptr, 0, b.ptr, -1, 16, stream));
  SAY(cudaFree(a.ptr));
  SAY(cudaFree(b.ptr));
}

static void of_managed_memory(cudaStream_t stream) {
  int* managed = nullptr;
  constexpr size_t bytes = 2 << 20;  // a page of the device
  SAY(cudaMallocManaged(&managed, 2 * bytes));
  for (int i = 0; i < n; ++i) managed[i] = i;
  void* pointers[] = {managed, managed + bytes / sizeof(int)};
  size_t sizes[] = {bytes, bytes}, indices[] = {0};
  cudaMemLocation place{};
  place.type = cudaMemLocationTypeDevice;
  SAY(cudaMemPrefetchBatchAsync(pointers, sizes, 2, &place, indices, 1, 0, stream));
  twice<<<1, n, 0, stream>>>(managed);
  place.type = cudaMemLocationTypeHost;
  SAY(cudaMemPrefetchBatchAsync(pointers, sizes, 2, &place, indices, 1, 0, stream));
  SAY(cudaStreamSynchronize(stream));
  std::printf("%d %d\n", managed[1], managed[n - 1]);
  SAY(cudaMemDiscardBatchAsync(pointers, sizes, 2, 0, stream));
  SAY(cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, 2, &place, indices, 1, 0, stream));
  SAY(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) managed[i] = 3;
  std::printf("%d\n", managed[n - 1]);
  SAY(cudaMemPrefetchBatchAsync(pointers, sizes, 2, &place, indices, 1, 1, stream));
  SAY(cudaFree(managed));
}

int main() {
  cudaStream_t stream;
  SAY(cudaStreamCreate(&stream));
  in_batches(stream);
  of_boxes(stream);
  of_managed_memory(stream);
  SAY(cudaDeviceSynchronize());
}
