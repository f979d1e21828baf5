// SPDX-License-Identifier: MIT
// Copies of stretches that are not waited for, and those that are: one mistake a kernel.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
constexpr int words = 256;

__device__ unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void init(std::uint64_t* object) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(object)));
  asm volatile("fence.mbarrier_init.release.cluster;");
}
__device__ void load(void* to, const void* from, unsigned bytes, std::uint64_t* object) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(object)),
               "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(at(to)),
      "l"(from), "r"(bytes), "r"(at(object))
      : "memory");
}
__device__ void wait(std::uint64_t* object, unsigned parity) {
  asm volatile(
      "{ .reg .pred P;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n"
      "@!P bra AGAIN; }" ::"r"(at(object)),
      "r"(parity)
      : "memory");
}
__device__ void store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(at(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int left>
__device__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// A barrier of the block does not wait for the copy.
__global__ void reads_early(const int* in, int* out) {
  __shared__ alignas(128) int tile[words];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) init(&object);
  __syncthreads();
  if (threadIdx.x == 0) load(tile, in, sizeof(tile), &object);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // mistake
  wait(&object, 0);
}

/// The second phase is not waited for, only the first once more.
__global__ void waits_for_the_first(const int* in, int* out) {
  __shared__ alignas(128) int tile[2][words];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) init(&object);
  __syncthreads();
  int sum = 0;
  for (int phase = 0; phase < 2; ++phase) {
    if (threadIdx.x == 0) load(tile[phase], in + phase * words, sizeof(tile[0]), &object);
    wait(&object, 0);
    sum += tile[phase][threadIdx.x];  // mistake
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

/// The source of a store is written again before it was read.
__global__ void writes_early(const int* in, int* out) {
  __shared__ alignas(128) int tile[words];
  for (int part = 0; part < 2; ++part) {
    tile[threadIdx.x] = in[part * words + threadIdx.x];  // mistake
    fence();
    __syncthreads();
    if (threadIdx.x == 0) store(out + part * words, tile, sizeof(tile));
    __syncthreads();
  }
  if (threadIdx.x == 0) wait_read<0>();
}

/// One group more is left than may be.
__global__ void leaves_one_group(const int* in, int* out) {
  __shared__ alignas(128) int tile[2][words];
  for (int part = 0; part < 4; ++part) {
    if (threadIdx.x == 0) wait_read<2>();
    __syncthreads();
    tile[part % 2][threadIdx.x] = in[threadIdx.x] + part;  // mistake
    fence();
    __syncthreads();
    if (threadIdx.x == 0) store(out + part % 2 * words, tile[part % 2], sizeof(tile[0]));
  }
  if (threadIdx.x == 0) wait_read<0>();
}

/// The phase may be over when half of the copy is there.
__global__ void awaits_fewer(const int* in, int* out) {
  __shared__ alignas(128) int tile[words];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) {
    init(&object);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(at(&object))
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, "
        "[%2];" ::"r"(at(tile)),
        "l"(in), "r"(at(&object))
        : "memory");  // mistake
  }
  __syncthreads();
  wait(&object, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

/// One copy is asked for where the one before may still write.
__global__ void refills_early(const int* in, int* out) {
  __shared__ alignas(128) int tile[words];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) init(&object);
  __syncthreads();
  for (int part = 0; part < 2; ++part) {
    if (threadIdx.x == 0) load(tile, in + part * words, sizeof(tile), &object);  // mistake
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}

/// The last four bytes stay behind.
__global__ void stores_20_bytes(const int* in, int* out) {
  __shared__ alignas(128) int tile[8];
  if (threadIdx.x < 8) tile[threadIdx.x] = in[threadIdx.x];
  fence();
  __syncthreads();
  if (threadIdx.x == 0) store(out, tile, 20);  // mistake
  if (threadIdx.x == 0) wait_read<0>();
}

/// Elements that nobody has set and nobody uses may be copied.
__global__ void copies_gaps(int4* out) {
  __shared__ alignas(128) int4 from[32], to[32];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) init(&object);
  if (threadIdx.x < 16) from[threadIdx.x].x = from[threadIdx.x].z = threadIdx.x;
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, from, sizeof(from));
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    load(to, out, sizeof(to), &object);
  }
  wait(&object, 0);
  if (threadIdx.x < 16) out[threadIdx.x].x = to[threadIdx.x].x + to[threadIdx.x].z;
}

/// In two buffers each, as it is done.
__global__ void right(const int* in, int* out) {
  __shared__ alignas(128) int from[2][words], to[2][words];
  __shared__ std::uint64_t objects[2];
  if (threadIdx.x == 0) {
    init(&objects[0]);
    init(&objects[1]);
    load(from[0], in, sizeof(from[0]), &objects[0]);
  }
  __syncthreads();
  for (int part = 0; part < 4; ++part) {
    if (threadIdx.x == 0 && part < 3) {
      load(from[(part + 1) % 2], in + (part + 1) % 2 * words, sizeof(from[0]),
           &objects[(part + 1) % 2]);
    }
    if (threadIdx.x == 0) wait_read<1>();
    wait(&objects[part % 2], part / 2);
    __syncthreads();
    to[part % 2][threadIdx.x] = from[part % 2][threadIdx.x] + 1;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) store(out + part % 2 * words, to[part % 2], sizeof(to[0]));
  }
  if (threadIdx.x == 0) wait_read<0>();
}

int main() {
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 2 * words * sizeof(int));
  cudaMalloc(&out, 2 * words * sizeof(int));
  cudaMemset(in, 1, 2 * words * sizeof(int));
  cudaMemset(out, 0, 2 * words * sizeof(int));
  reads_early<<<1, words>>>(in, out);
  waits_for_the_first<<<1, words>>>(in, out);
  writes_early<<<1, words>>>(in, out);
  leaves_one_group<<<1, words>>>(in, out);
  awaits_fewer<<<1, words>>>(in, out);
  refills_early<<<1, words>>>(in, out);
  stores_20_bytes<<<1, words>>>(in, out);
  copies_gaps<<<1, words>>>(reinterpret_cast<int4*>(out));
  right<<<1, words>>>(in, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
