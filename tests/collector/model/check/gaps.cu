// SPDX-License-Identifier: MIT
// Kernels whose mistakes the check does not find, each for one gap, and kernels without a gap.
#include <cstdint>

namespace {

__device__ unsigned shared_address(const void* place) {
  return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

__constant__ int of_all[4];

}  // namespace

extern "C" __global__ void plain(int* out, const int* in) {
  out[threadIdx.x] = in[31 - threadIdx.x];
}

extern "C" __global__ void volatile_message(volatile int* out, volatile int* message) {
  if (blockIdx.x == 0) {
    message[0] = 42;
    message[64] = 1;
  } else {
    while (message[64] == 0) {
    }
    out[0] = message[0];
  }
}

extern "C" __global__ void source_of_a_copy_changed(int* out, int* in) {
  __shared__ alignas(16) int tile[128];
  const int thread = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + 4 * thread)),
               "l"(in + 4 * thread)
               : "memory");
  in[4 * thread] = 7;
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[thread] = tile[4 * thread];
}

extern "C" __global__ void store_counted_by_nobody(int* out) {
  __shared__ alignas(16) int tile[4];
  __shared__ std::uint64_t object;
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                   shared_address(tile)),
               "r"(5), "r"(shared_address(&object))
               : "memory");
  out[threadIdx.x] = tile[0];
}

extern "C" __global__ void object_overwritten(int* out) {
  __shared__ std::uint64_t object;
  asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&object)) : "memory");
  object = 5;
  out[threadIdx.x] = static_cast<int>(object);
}

extern "C" __global__ void atomics_of_two_widths(unsigned long long* sum) {
  if (blockIdx.x == 0) {
    atomicAdd(sum, 1ull);
  } else {
    atomicAdd(reinterpret_cast<unsigned*>(sum), 1u);
  }
}

extern "C" __global__ void last_block_without_acquire(int* out, int* values) {
  __shared__ bool is_last;
  values[8 + blockIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) is_last = atomicAdd(values, 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  if (is_last) out[threadIdx.x] = values[8 + threadIdx.x];
}

extern "C" __global__ void constant_read(int* out) { out[threadIdx.x] = of_all[threadIdx.x % 4]; }

extern "C" __global__ void local_of_another_thread(int* out, const int* in) {
  __shared__ int* of_first;
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = threadIdx.x + i * in[0];
  if (threadIdx.x == 0) of_first = own;
  __syncthreads();
  out[threadIdx.x] = of_first[(threadIdx.x + own[in[3] & 3]) & 3];
}

extern "C" __global__ void texture_read(int* out, cudaTextureObject_t texture) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);
}

extern "C" __global__ void surface_written(cudaSurfaceObject_t surface) {
  surf1Dwrite(static_cast<int>(threadIdx.x), surface, 0);
}

extern "C" __global__ void surface_written_formatted(cudaSurfaceObject_t surface) {
  asm volatile("sust.p.1d.b32.trap [%0, {%1}], %2;" ::"l"(surface), "r"(threadIdx.x), "r"(1)
               : "memory");
}

extern "C" __global__ void atomics_of_float_and_long(unsigned long long* sum) {
  atomicAdd(sum, 1ull);
  atomicAdd(reinterpret_cast<float*>(sum), 1.0f);
}
