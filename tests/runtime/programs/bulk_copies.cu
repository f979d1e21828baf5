// SPDX-License-Identifier: MIT
// Copies and reductions of whole stretches (cp.async.bulk, cp.reduce.async.bulk) between global
// memory, shared memory and that of other blocks, stores that a barrier object counts (st.async,
// red.async), and the library's ways to them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda/barrier>

#include <cooperative_groups.h>

#include <cstdint>

#include "runtime_program.h"
namespace cg = cooperative_groups;

constexpr int words = 1024;
constexpr unsigned whole = words * 4;

__device__ unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ unsigned mapped(unsigned address, unsigned rank) {
  unsigned result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}
__device__ void init(std::uint64_t* object, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(object)), "r"(count));
  asm volatile("fence.mbarrier_init.release.cluster;");
}
__device__ void arrive_and_expect(std::uint64_t* object, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(object)),
      "r"(bytes)
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
__device__ void load(void* to, const void* from, unsigned bytes, std::uint64_t* object) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(at(to)),
      "l"(from), "r"(bytes), "r"(at(object))
      : "memory");
}
__device__ void store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(at(from)), "r"(bytes)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Shared memory that is filled by a pattern, and a barrier object for one thread.
#define BEGIN                                                             \
  __shared__ alignas(128) unsigned shared[words];                         \
  __shared__ alignas(8) std::uint64_t object;                             \
  const unsigned t = threadIdx.x;                                         \
  for (unsigned i = t; i < words; i += blockDim.x) shared[i] = 3 * i + 1; \
  if (t == 0) init(&object, 1);                                           \
  proxy_fence();                                                          \
  __syncthreads();

#define END(out) \
  for (unsigned i = t; i < words; i += blockDim.x) (out)[blockIdx.x * words + i] = shared[i];

__global__ void load_one(const unsigned* in, unsigned* out) {
  BEGIN
  if (t == 0) {
    arrive_and_expect(&object, whole);
    load(shared, in, whole, &object);
  }
  wait(&object, 0);
  END(out)
}

/// Each lane of a warp its own: 32 or 96 bytes.
__global__ void load_lanes(const unsigned* in, unsigned* out) {
  BEGIN
  if (t == 0) arrive_and_expect(&object, 16 * 32 + 16 * 96);
  __syncwarp();
  load(shared + t * 32, in + t * 36, t % 2 == 0 ? 32 : 96, &object);
  wait(&object, 0);
  END(out)
}

/// The bytes are expected behind the copy that brings them, and in a phase after the first.
__global__ void load_late(const unsigned* in, unsigned* out) {
  BEGIN
  for (unsigned phase = 0; phase < 4; ++phase) {
    if (t == 0) {
      load(shared + phase * 64, in + phase * 128, 256, &object);
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at(&object)),
                   "r"(256)
                   : "memory");
      asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at(&object))
                   : "memory");
    }
    wait(&object, phase & 1);
    __syncthreads();  // or one warp is two phases ahead, and the other waits forever
  }
  END(out)
}

__global__ void load_with_hint(const unsigned* in, unsigned* out) {
  BEGIN
  if (t == 0) {
    std::uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    arrive_and_expect(&object, 1024);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
        "[%1], %2, [%3], %4;" ::"r"(at(shared)),
        "l"(in), "r"(1024), "r"(at(&object)), "l"(policy)
        : "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in + 512), "r"(1024));
  }
  wait(&object, 0);
  END(out)
}

__global__ void store_one(const unsigned*, unsigned* out) {
  BEGIN
  if (t == 0) {
    store(out, shared, whole);
    commit();
    wait_all();
  }
}

__global__ void store_lanes(const unsigned*, unsigned* out) {
  BEGIN
  if (t < 16) {
    store(out + t * 64, shared + t * 60, t % 2 == 0 ? 16 : 240);
    commit();
    wait_read();
  }
  __syncthreads();
  for (unsigned i = t; i < words; i += blockDim.x) shared[i] = 7;
}

/// Numbers of one type, added or otherwise put to what global memory holds.
#define REDUCE(name, type, operation)                                                       \
  __global__ void name(const unsigned*, unsigned* out) {                                    \
    __shared__ alignas(128) type shared[whole / sizeof(type)];                              \
    for (unsigned i = threadIdx.x; i < whole / sizeof(type); i += blockDim.x)               \
      shared[i] = static_cast<type>(static_cast<int>(i % 19) - (sizeof(type) > 2 ? 0 : 9)); \
    proxy_fence();                                                                          \
    __syncthreads();                                                                        \
    if (threadIdx.x == 0) {                                                                 \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation          \
                   " [%0], [%1], %2;" ::"l"(out),                                           \
                   "r"(at(shared)), "r"(whole)                                              \
                   : "memory");                                                             \
      commit();                                                                             \
      wait_all();                                                                           \
    }                                                                                       \
  }
REDUCE(add_u32, unsigned, "add.u32")
REDUCE(add_s32, int, "add.s32")
REDUCE(add_u64, unsigned long long, "add.u64")
REDUCE(add_f32, float, "add.f32")
REDUCE(add_f64, double, "add.f64")
REDUCE(add_f16, __half, "add.noftz.f16")
REDUCE(add_bf16, __nv_bfloat16, "add.noftz.bf16")
REDUCE(min_u32, unsigned, "min.u32")
REDUCE(max_s32, int, "max.s32")
REDUCE(min_s64, long long, "min.s64")
REDUCE(max_u64, unsigned long long, "max.u64")
REDUCE(min_f16, __half, "min.f16")
REDUCE(max_bf16, __nv_bfloat16, "max.bf16")
REDUCE(inc_u32, unsigned, "inc.u32")
REDUCE(dec_u32, unsigned, "dec.u32")
REDUCE(and_b32, unsigned, "and.b32")
REDUCE(or_b64, unsigned long long, "or.b64")
REDUCE(xor_b32, unsigned, "xor.b32")

#define CLUSTER __global__ void __cluster_dims__(2, 1, 1)

/// One block's copy into the memory of both.
CLUSTER load_for_all(const unsigned* in, unsigned* out) {
  BEGIN
  const cg::cluster_group cluster = cg::this_cluster();
  if (t == 0) arrive_and_expect(&object, 512 * 4);
  cluster.sync();
  if (t == 0) {
    const std::uint16_t all = 3;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], "
        "[%1], %2, [%3], %4;" ::"r"(at(shared + blockIdx.x * 256)),
        "l"(in + blockIdx.x * 512), "r"(256 * 4), "r"(at(&object)), "h"(all)
        : "memory");
  }
  wait(&object, 0);
  END(out)
  cluster.sync();
}

/// Into the memory of the other block, whose barrier object counts it.
CLUSTER copy_to_other(const unsigned*, unsigned* out) {
  BEGIN
  const cg::cluster_group cluster = cg::this_cluster();
  for (unsigned i = t; i < 256; i += blockDim.x) shared[i] = 1000 * blockIdx.x + i;
  if (t == 0) arrive_and_expect(&object, 1024);
  proxy_fence();
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  if (t == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(mapped(at(shared + 512), other)),
        "r"(at(shared)), "r"(1024), "r"(mapped(at(&object), other))
        : "memory");
  }
  wait(&object, 0);
  END(out)
  cluster.sync();
}

#define REDUCE_OTHER(name, operation)                                                         \
  CLUSTER name(const unsigned*, unsigned* out) {                                              \
    BEGIN                                                                                     \
    const cg::cluster_group cluster = cg::this_cluster();                                     \
    if (t == 0) arrive_and_expect(&object, 1024);                                             \
    proxy_fence();                                                                            \
    cluster.sync();                                                                           \
    const unsigned other = cluster.block_rank() ^ 1;                                          \
    if (t == 0) {                                                                             \
      asm volatile(                                                                           \
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"          \
          "bytes." operation " [%0], [%1], %2, [%3];" ::"r"(mapped(at(shared + 512), other)), \
          "r"(at(shared)), "r"(1024), "r"(mapped(at(&object), other))                         \
          : "memory");                                                                        \
    }                                                                                         \
    wait(&object, 0);                                                                         \
    END(out)                                                                                  \
    cluster.sync();                                                                           \
  }
REDUCE_OTHER(add_other, "add.u32")
REDUCE_OTHER(max_other, "max.s32")
REDUCE_OTHER(inc_other, "inc.u32")
REDUCE_OTHER(xor_other, "xor.b32")
REDUCE_OTHER(add_long_other, "add.u64")

/// Stores whose bytes the other block's barrier object counts.
CLUSTER store_async(const unsigned*, unsigned* out) {
  BEGIN
  const cg::cluster_group cluster = cg::this_cluster();
  if (t == 0) arrive_and_expect(&object, 32 * (4 + 8 + 16 + 8));
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  const unsigned to = mapped(at(shared), other), counted = mapped(at(&object), other);
  if (t < 32) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     to + 4 * t),
                 "r"(t * t), "r"(counted)
                 : "memory");
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1, %2}, [%3];" ::"r"(
            to + 512 + 8 * t),
        "r"(t), "r"(t + 100), "r"(counted)
        : "memory");
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
        "[%5];" ::"r"(to + 1024 + 16 * t),
        "r"(t), "r"(t + 1), "r"(t + 2), "r"(t + 3), "r"(counted)
        : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(
                     to + 2048 + 8 * t),
                 "l"(static_cast<unsigned long long>(t) << 33), "r"(counted)
                 : "memory");
  }
  wait(&object, 0);
  END(out)
  cluster.sync();
}

CLUSTER reduce_async(const unsigned*, unsigned* out) {
  BEGIN
  const cg::cluster_group cluster = cg::this_cluster();
  if (t == 0) arrive_and_expect(&object, 32 * (4 * 5 + 8));
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  const unsigned to = mapped(at(shared), other), counted = mapped(at(&object), other);
#define RED(operation, place, constraint, value)                                                   \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." operation \
               " [%0], %1, [%2];" ::"r"(to + (place)),                                             \
               constraint(value), "r"(counted)                                                     \
               : "memory")
  if (t < 32) {
    RED("add.u32", 4 * (t / 4), "r", t);
    RED("max.s32", 128 + 4 * (t / 8), "r", t * 200);
    RED("inc.u32", 256, "r", 1000000u);
    RED("and.b32", 384 + 4 * (t % 16), "r", 0xfffffff0u);
    RED("xor.b32", 512 + 4 * t, "r", t << 8);
    RED("add.u64", 1024 + 8 * (t / 2), "l", static_cast<unsigned long long>(t) << 30);
  }
  wait(&object, 0);
  END(out)
  cluster.sync();
}

/// The library's ways.
__global__ void copy_by_barrier(const unsigned* in, unsigned* out) {
  __shared__ alignas(128) unsigned shared[words];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, shared, in, cuda::aligned_size_t<16>(whole / 2), barrier);
  barrier.arrive_and_wait();
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(shared + words / 2, in + words / 2,
                                  cuda::aligned_size_t<16>(whole / 2), barrier);
    auto token = cuda::device::barrier_arrive_tx(barrier, 1, whole / 2);
    barrier.wait(std::move(token));
  } else {
    barrier.arrive_and_wait();
  }
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) out[i] = shared[i];
}

unsigned* in = nullptr;
unsigned* out = nullptr;

template <class Kernel>
void run(const char* name, Kernel kernel, int blocks, int threads) {
  for (int i = 0; i < 2 * words; ++i) out[i] = i % 23 * 5 + 2;
  kernel<<<blocks, threads>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  unsigned long long sum = 0, mixed = 14695981039346656037ull;
  for (int i = 0; i < 2 * words; ++i) {
    sum += out[i];
    mixed = (mixed ^ out[i]) * 1099511628211ull;
  }
  std::printf("%s: %s %llu %016llx\n", name, cudaGetErrorName(error), sum, mixed);
}
#define RUN(kernel, blocks, threads) run(#kernel, kernel, blocks, threads)

int main() {
  K(cudaMallocManaged(&in, 2 * whole));
  K(cudaMallocManaged(&out, 2 * whole));
  for (int i = 0; i < 2 * words; ++i) in[i] = i * 2654435761u;
  RUN(load_one, 1, 64);
  RUN(load_lanes, 1, 32);
  RUN(load_late, 1, 64);
  RUN(load_with_hint, 1, 64);
  RUN(store_one, 1, 64);
  RUN(store_lanes, 1, 64);
  RUN(add_u32, 1, 64);
  RUN(add_s32, 1, 64);
  RUN(add_u64, 1, 64);
  for (int i = 0; i < 2 * words; ++i) in[i] = i;
  RUN(add_f32, 1, 64);
  RUN(add_f64, 1, 64);
  RUN(add_f16, 1, 64);
  RUN(add_bf16, 1, 64);
  RUN(min_u32, 1, 64);
  RUN(max_s32, 1, 64);
  RUN(min_s64, 1, 64);
  RUN(max_u64, 1, 64);
  RUN(min_f16, 1, 64);
  RUN(max_bf16, 1, 64);
  RUN(inc_u32, 1, 64);
  RUN(dec_u32, 1, 64);
  RUN(and_b32, 1, 64);
  RUN(or_b64, 1, 64);
  RUN(xor_b32, 1, 64);
  RUN(load_for_all, 2, 64);
  RUN(copy_to_other, 2, 64);
  RUN(add_other, 2, 64);
  RUN(max_other, 2, 64);
  RUN(inc_other, 2, 64);
  RUN(xor_other, 2, 64);
  RUN(add_long_other, 2, 64);
  RUN(store_async, 2, 64);
  RUN(reduce_async, 2, 64);
  RUN(copy_by_barrier, 1, 64);
  K(cudaFree(in));
  K(cudaFree(out));
}
