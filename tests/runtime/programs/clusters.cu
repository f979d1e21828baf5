// SPDX-License-Identifier: MIT
// Clusters: the barrier of their blocks, each other's shared memory, and what launches of them
// answer. The first kernels have one access each that another block's memory, or one's own by its
// rank, is reached with.
#include <cooperative_groups.h>

#include <cstring>

#include "runtime_program.h"
namespace cg = cooperative_groups;

constexpr int floats = 4096;

/// The start of those kernels: 4,096 numbers in shared memory, and where they are in this block and
/// in the other.
struct Blocks {
  cg::cluster_group cluster = cg::this_cluster();
  float *mine, *own, *other;

  __device__ explicit Blocks(float* shared) : mine(shared) {
    for (int i = threadIdx.x; i < floats; i += blockDim.x) mine[i] = i + blockIdx.x * 10000;
    cluster.sync();
    own = cluster.map_shared_rank(mine, cluster.block_rank());
    other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  }
};

// ACCESS(name, statement): b are the blocks, t the thread, v what is stored in the end.
#define ACCESS(name, ...)                                      \
  __global__ void __cluster_dims__(2, 1, 1) name(float* out) { \
    __shared__ float shared[floats];                           \
    Blocks b(shared);                                          \
    const unsigned t = threadIdx.x;                            \
    float v = 0;                                               \
    __VA_ARGS__;                                               \
    b.cluster.sync();                                          \
    out[blockIdx.x * blockDim.x + t] = v;                      \
  }
// The same of a store, whose effect is looked at behind the barrier.
#define CHANGE(name, index, ...)                               \
  __global__ void __cluster_dims__(2, 1, 1) name(float* out) { \
    __shared__ float shared[floats];                           \
    Blocks b(shared);                                          \
    const unsigned t = threadIdx.x;                            \
    __VA_ARGS__;                                               \
    b.cluster.sync();                                          \
    out[blockIdx.x * blockDim.x + t] = shared[index];          \
  }

__device__ unsigned address_of(const float* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ unsigned mapped(unsigned address, unsigned rank) {
  unsigned result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}
__device__ float loaded(unsigned address) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address));
  return value;
}

ACCESS(load_other, v = b.other[t])
ACCESS(load_other_stride_2, v = b.other[2 * t])
ACCESS(load_other_stride_32, v = b.other[32 * t])
ACCESS(load_other_same, v = b.other[5])
ACCESS(load_other_float4, {
  const float4 four = reinterpret_cast<float4*>(b.other)[t];
  v = four.x + four.y * four.z - four.w;
})
ACCESS(load_own, v = b.own[t])
ACCESS(load_own_stride_2, v = b.own[2 * t])
ACCESS(load_both, v = (t % 2 != 0 ? b.other : b.own)[t])
ACCESS(load_three, v = (t < 8 ? b.other : t < 16 ? out + 64 : b.mine)[t])
ACCESS(load_some, if (t < 20) v = b.other[3 * t])
ACCESS(load_address, v = loaded(mapped(address_of(b.mine), b.cluster.block_rank() ^ 1) + 4 * t))
ACCESS(load_own_address, v = loaded(address_of(b.mine) + 8 * t))
ACCESS(exchange_other, v = atomicExch(reinterpret_cast<int*>(b.other) + t, t))
ACCESS(add_other, v = atomicAdd(reinterpret_cast<int*>(b.other) + 2 * t, 1))
ACCESS(add_own, v = atomicAdd(reinterpret_cast<int*>(b.own) + t, 1))
CHANGE(store_other, t, b.other[t] = t)
CHANGE(store_other_stride_2, 2 * t, b.other[2 * t] = t)
CHANGE(store_other_float2, 2 * t, reinterpret_cast<float2*>(b.other)[t] = make_float2(t, 1))
CHANGE(store_own, t, b.own[t] = t)
CHANGE(count_other, t % 4, atomicAdd(reinterpret_cast<int*>(b.other) + t % 4, 1))

/// A histogram over the shared memory of a cluster.
__global__ void histogram(const unsigned* in, int n, unsigned* out, int bins_of_block) {
  extern __shared__ unsigned bins[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  const unsigned all = bins_of_block * cluster.num_blocks();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned bin = in[i] % all;
    atomicAdd(cluster.map_shared_rank(bins, bin / bins_of_block) + bin % bins_of_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < bins_of_block; i += blockDim.x) {
    atomicAdd(out + cluster.block_rank() * bins_of_block + i, bins[i]);
  }
}

/// A sum that goes round a cluster of two dimensions, with a barrier in two halves.
__global__ void __cluster_dims__(2, 2, 1) around(int* out) {
  __shared__ int numbers[96], sums[96];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  numbers[threadIdx.x] = block * 100 + threadIdx.x;
  sums[threadIdx.x] = 0;
  for (unsigned step = 0; step < blocks; ++step) {
    cluster.barrier_arrive();
    int own = 0;
    for (unsigned i = 0; i <= threadIdx.x % 7; ++i) own += i;
    cluster.barrier_wait();
    const int value = cluster.map_shared_rank(numbers, (rank + step) % blocks)[95 - threadIdx.x];
    __syncthreads();
    sums[threadIdx.x] += value * (own + 1);
  }
  cluster.sync();
  out[block * 96 + threadIdx.x] = sums[threadIdx.x] + cluster.thread_rank() +
                                  1000 * cluster.block_index().x + 10000 * cluster.block_index().y +
                                  cluster.dim_blocks().x + cluster.dim_threads().x;
}

/// Threads end before the others wait; whole warps too.
__global__ void __cluster_dims__(4, 1, 1) endings(int* out) {
  __shared__ int number;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) number = blockIdx.x;
  cluster.sync();
  if (threadIdx.x >= 40 + 8 * cluster.block_rank()) return;
  cluster.sync();
  const int next = *cluster.map_shared_rank(&number, (cluster.block_rank() + 1) % 4);
  cluster.sync();
  out[blockIdx.x * 96 + threadIdx.x] = next;
}

/// Another block's barrier object.
__global__ void __cluster_dims__(2, 1, 1) signals(int* out) {
  __shared__ alignas(8) unsigned long long object;
  __shared__ int number;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  const unsigned other = mapped(own, cluster.block_rank() ^ 1);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(own));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    *cluster.map_shared_rank(&number, cluster.block_rank() ^ 1) = 7 + blockIdx.x;
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other));
  }
  unsigned is_over = 0;
  while (is_over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(is_over)
        : "r"(own)
        : "memory");
  }
  out[blockIdx.x * 32 + threadIdx.x] = number;
  cluster.sync();
}

__global__ void questions(unsigned* out) {
  if (threadIdx.x != 0) return;
  unsigned* const to = out + 15 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
#define ASK(i, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(to[i]))
  ASK(0, "clusterid.x");
  ASK(1, "clusterid.y");
  ASK(2, "clusterid.z");
  ASK(3, "nclusterid.x");
  ASK(4, "nclusterid.y");
  ASK(5, "nclusterid.z");
  ASK(6, "cluster_ctaid.x");
  ASK(7, "cluster_ctaid.y");
  ASK(8, "cluster_ctaid.z");
  ASK(9, "cluster_nctaid.x");
  ASK(10, "cluster_nctaid.y");
  ASK(11, "cluster_nctaid.z");
  ASK(12, "cluster_ctarank");
  ASK(13, "cluster_nctarank");
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
               : "=r"(to[14]));
}

/// The owner of an address, and in which space.
__global__ void __cluster_dims__(2, 1, 1) places(int* out) {
  __shared__ float shared[4];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  float* const other = cluster.map_shared_rank(shared, rank ^ 1);
  int* const to = out + 6 * blockIdx.x;
  to[0] = cluster.query_shared_rank(shared);
  to[1] = cluster.query_shared_rank(other);
  to[2] = cluster.map_shared_rank(shared, rank) == shared;
  to[3] = other == shared;
  int is_own = 0, is_shared = 0;
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_own)
      : "l"(other));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_shared)
      : "l"(other));
  to[4] = is_own;
  to[5] = is_shared;
  cluster.sync();
}

__global__ void plain(int* out) { out[blockIdx.x] = 1; }

template <class T>
unsigned long long hash_of(const T* numbers, int n) {
  unsigned long long hash = 0;
  for (int i = 0; i < n; ++i) {
    unsigned bits;
    std::memcpy(&bits, numbers + i, sizeof(bits));
    hash = (hash ^ bits) * 0x100000001b3ull + 7;
  }
  return hash;
}

/// The state of a launch, and what it wrote.
template <class T>
void show(const char* name, const T* out, int n) {
  const cudaError_t result = cudaDeviceSynchronize();
  std::printf("%s %s %016llx\n", name, cudaGetErrorName(result), hash_of(out, n));
}

/// Each with an attribute of its own.
cudaLaunchConfig_t config(dim3 grid, dim3 block, dim3 cluster, std::size_t shared = 0) {
  static cudaLaunchAttribute attributes[4];
  static unsigned used = 0;
  cudaLaunchAttribute& attribute = attributes[used++ % 4];
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

void accesses(float* out) {
#define RUN(kernel)         \
  cudaMemset(out, 0, 4096); \
  kernel<<<2, 32>>>(out);   \
  show(#kernel, out, 64);
  RUN(load_other)
  RUN(load_other_stride_2)
  RUN(load_other_stride_32)
  RUN(load_other_same)
  RUN(load_other_float4)
  RUN(load_own)
  RUN(load_own_stride_2)
  RUN(load_both)
  RUN(load_three)
  RUN(load_some)
  RUN(load_address)
  RUN(load_own_address)
  RUN(exchange_other)
  RUN(add_other)
  RUN(add_own)
  RUN(store_other)
  RUN(store_other_stride_2)
  RUN(store_other_float2)
  RUN(store_own)
  RUN(count_other)
}

void programs(unsigned* numbers) {
  for (int i = 0; i < 4096; ++i) numbers[i] = i * 2654435761u >> 7;
  for (const int blocks : {1, 2, 4, 8}) {
    unsigned* const out = numbers + 4096;
    cudaMemset(out, 0, 1024 * 4);
    const auto how = config(16, 128, blocks, 64 * 4);
    K(cudaLaunchKernelEx(&how, histogram, static_cast<const unsigned*>(numbers), 4096, out, 64));
    show("histogram", out, 1024);
  }
  int* const out = reinterpret_cast<int*>(numbers);
  const auto shown = [&](const char* name, int n) {
    show(name, out, n);
    cudaMemset(out, 0, 4096 * 4);
  };
  cudaMemset(out, 0, 4096 * 4);
  around<<<dim3(4, 6), 96>>>(out);
  shown("around", 24 * 96);
  endings<<<8, 96>>>(out);
  shown("endings", 8 * 96);
  signals<<<6, 32>>>(out);
  shown("signals", 6 * 32);
  places<<<4, 1>>>(out);
  shown("places", 24);
  const dim3 grids[] = {8, {4, 4}, {2, 2, 4}}, clusters[] = {4, {2, 2}, {1, 2, 2}};
  for (int i = 0; i < 3; ++i) {
    const auto how = config(grids[i], 32, clusters[i]);
    K(cudaLaunchKernelEx(&how, questions, numbers));
    shown("questions", 16 * 15);
  }
  questions<<<2, 32>>>(numbers);
  shown("questions without", 2 * 15);
}

/// A launch, and what is asked before it.
void try_one(const char* name, dim3 grid, dim3 cluster, int* out) {
  const auto how = config(grid, 32, cluster);
  int size = -1, active = -1;
  const cudaError_t first = cudaOccupancyMaxPotentialClusterSize(&size, plain, &how);
  const cudaError_t second = cudaOccupancyMaxActiveClusters(&active, plain, &how);
  cudaGetLastError();
  const cudaError_t result = cudaLaunchKernelEx(&how, plain, out), last = cudaGetLastError();
  std::printf("%s: %s | last %s | %s %d | %s %d\n", name, cudaGetErrorName(result),
              cudaGetErrorName(last), cudaGetErrorName(first), size, cudaGetErrorName(second),
              active > 0);
}

void mistakes(int* out) {
  try_one("2 of 8", 8, 2, out);
  try_one("3 of 9", 9, 3, out);
  try_one("2 x 2", {4, 4}, {2, 2}, out);
  try_one("1", 4, 1, out);
  try_one("odd grid", 7, 2, out);
  try_one("16", 16, 16, out);
  try_one("none", 8, 0, out);
  try_one("3 x 3", {9, 9}, {3, 3}, out);
  K(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  try_one("16 where it is allowed", 16, 16, out);
  try_one("12 where it is allowed", 24, 12, out);
  const auto same = config(8, 32, 2), other = config(8, 32, 4);
  float* const floats_out = reinterpret_cast<float*>(out);
  R(cudaLaunchKernelEx(&same, load_own, floats_out));
  R(cudaLaunchKernelEx(&other, load_own, floats_out));
  load_own<<<3, 32>>>(floats_out);
  K(cudaGetLastError());
  cudaFuncAttributes known;
  K(cudaFuncGetAttributes(&known, load_own));
  I(known.requiredClusterWidth);
  I(known.requiredClusterHeight);
  I(known.requiredClusterDepth);
  I(known.clusterDimMustBeSet);
  I(known.nonPortableClusterSizeAllowed);
  K(cudaFuncGetAttributes(&known, plain));
  I(known.requiredClusterWidth);
  I(known.clusterDimMustBeSet);
  I(known.nonPortableClusterSizeAllowed);
  K(cudaDeviceSynchronize());
}

int main() {
  unsigned* numbers = nullptr;
  K(cudaMallocManaged(&numbers, 1 << 16));
  accesses(reinterpret_cast<float*>(numbers));
  programs(numbers);
  mistakes(reinterpret_cast<int*>(numbers));
}
