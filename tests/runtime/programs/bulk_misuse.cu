// SPDX-License-Identifier: MIT
// The answers to copies of stretches that are of a wrong size, at a wrong place, or never waited
// for: each in a process of its own.
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
__device__ unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

enum class Way { load, store, reduce, prefetch };

struct Case {
  const char* name;
  Way way;
  int shared_offset;
  long long global_offset;
  unsigned bytes;
  int expected;  ///< bytes that the barrier object is told of; -1: those copied
};

__global__ void copy(Case c, char* global) {
  extern __shared__ __align__(128) char shared[];
  __shared__ alignas(8) std::uint64_t object;
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) shared[i] = i;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&object)));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  char* const place = global + c.global_offset;
  const unsigned here = at(shared) + c.shared_offset;
  switch (c.way) {
    case Way::load: {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&object)),
                   "r"(c.expected < 0 ? c.bytes : c.expected)
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(here),
          "l"(place), "r"(c.bytes), "r"(at(&object))
          : "memory");
      unsigned done = 0;
      for (int tries = 0; done == 0 && tries < 100000; ++tries) {
        asm volatile(
            "{ .reg .pred P; mbarrier.test_wait.parity.shared::cta.b64 P, [%1], 0; selp.u32 %0, 1, "
            "0, P; }"
            : "=r"(done)
            : "r"(at(&object))
            : "memory");
      }
      global[(1 << 20) - 1] = done;
      global[(1 << 20) - 2] = shared[0];
      break;
    }
    case Way::store:
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(place),
                   "r"(here), "r"(c.bytes)
                   : "memory");
      break;
    case Way::reduce:
      asm volatile(
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(place),
          "r"(here), "r"(c.bytes)
          : "memory");
      break;
    case Way::prefetch:
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(place), "r"(c.bytes));
      break;
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int run(const Case& c) {
  char* global = nullptr;
  cudaMalloc(&global, 1 << 20);
  cudaMemset(global, 7, 1 << 20);
  cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16);
  copy<<<1, 32, 1 << 16>>>(c, global);
  const cudaError_t error = cudaDeviceSynchronize();
  char last[2] = {};
  if (error == cudaSuccess) cudaMemcpy(last, global + (1 << 20) - 2, 2, cudaMemcpyDeviceToHost);
  std::printf("%s: %s, %d %d\n", c.name, cudaGetErrorName(error), last[0], last[1]);
  std::fflush(stdout);
  return 0;
}

int main() {
  static const Case cases[] = {
      {"load", Way::load, 0, 0, 1024, -1},
      {"load of nothing", Way::load, 0, 0, 0, -1},
      {"load of 8 bytes", Way::load, 0, 0, 8, -1},
      {"load of 20 bytes", Way::load, 0, 0, 20, -1},
      {"load to 8", Way::load, 8, 0, 1024, -1},
      {"load from 8", Way::load, 0, 8, 1024, -1},
      {"load from 4", Way::load, 0, 4, 1024, -1},
      {"load from nowhere", Way::load, 0, 1ll << 40, 1024, -1},
      {"load far past the end", Way::load, 0, (256ll << 21) - 512, 1024, -1},
      {"load past the end of shared", Way::load, 65536 - 512, 0, 1024, -1},
      {"load of fewer than expected", Way::load, 0, 0, 1024, 2048},
      {"load of more than expected", Way::load, 0, 0, 1024, 512},
      {"store", Way::store, 0, 0, 1024, -1},
      {"store of nothing", Way::store, 0, 0, 0, -1},
      {"store of 8 bytes", Way::store, 0, 0, 8, -1},
      {"store from 8", Way::store, 8, 0, 1024, -1},
      {"store to 8", Way::store, 0, 8, 1024, -1},
      {"store to nowhere", Way::store, 0, 1ll << 40, 1024, -1},
      {"reduce", Way::reduce, 0, 0, 1024, -1},
      {"reduce to 8", Way::reduce, 0, 8, 1024, -1},
      {"reduce of 8 bytes", Way::reduce, 0, 0, 8, -1},
      {"prefetch", Way::prefetch, 0, 0, 1024, -1},
      {"prefetch of 8 bytes", Way::prefetch, 0, 0, 8, -1},
      {"prefetch from 8", Way::prefetch, 0, 8, 1024, -1},
      {"prefetch from nowhere", Way::prefetch, 0, 1ll << 40, 1024, -1},
  };
  for (const Case& c : cases) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) _exit(run(c));
    waitpid(child, nullptr, 0);
  }
}
