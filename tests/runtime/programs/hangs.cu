// SPDX-License-Identifier: MIT
// Kernels that wait for what never comes, and kernels that only take long: the argument names one.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/chrono>
namespace cg = cooperative_groups;

constexpr int blocks = 64, threads = 256;

/// Half of the blocks come to a barrier of the grid that the others leave out.
__global__ void unequal_grid(int* out, int*) {
  const cg::grid_group grid = cg::this_grid();
  out[grid.thread_rank()] = 1;
  grid.sync();
  if (blockIdx.x % 2 == 1) grid.sync();
  out[grid.thread_rank()] = 2;
}

/// One block makes a round more than the others.
__global__ void one_round_more(int* out, int*) {
  const cg::grid_group grid = cg::this_grid();
  const int rounds = blockIdx.x == 5 ? 4 : 3;
  for (int round = 0; round < rounds; ++round) {
    out[grid.thread_rank()] += round;
    grid.sync();
  }
}

__global__ void flag_nobody_sets(int* out, int* flag) {
  volatile int* const seen = flag;
  if (threadIdx.x == 0) {
    while (*seen == 0) {
    }
  }
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// The number of tries decides nothing as long as the loop lasts.
__global__ void counts_its_tries(int* out, int* flag) {
  volatile int* const seen = flag;
  int tries = 0;
  if (threadIdx.x == 0) {
    while (*seen == 0) ++tries;
  }
  out[blockIdx.x * threads + threadIdx.x] = tries;
}

/// Nor does the time by which it sleeps.
__global__ void sleeps_longer_and_longer(int* out, int* flag) {
  volatile int* const seen = flag;
  const long long begin = clock64();
  unsigned nanoseconds = 1;
  while (*seen == 0) {
    __nanosleep(clock64() - begin > 1000 ? nanoseconds : 1);
    nanoseconds *= 3;
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

__global__ void lock_never_released(int* out, int* lock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    ++*out;
  }
}

__global__ void lock_of_each_thread(int* out, int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  ++*out;
  __threadfence();
  if (threadIdx.x % 32 < 8) atomicExch(lock, 0);
}

/// A barrier object for a thread more than there are.
__global__ void object_for_too_many(int* out, int*) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  barrier.arrive_and_wait();
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// The same, where each wait has a limit of time, behind which it waits again.
__global__ void object_asked_again(int* out, int*) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  (void)barrier.arrive();
  while (!barrier.try_wait_parity_for(false, cuda::std::chrono::microseconds(1))) {
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

__global__ void flag_asked_again(int* out, int* flag) {
  volatile int* const seen = flag;
  while (*seen == 0) {
    const long long begin = clock64();
    while (clock64() - begin < 500 && *seen == 0) {
    }
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// The object is for a thread more than there are, and the wait stands in a loop that does more.
__global__ void object_asked_in_rounds(int* out, int*) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  (void)barrier.arrive();
  for (int round = 0; round < 4; ++round) {
    barrier.wait_parity(round % 2);
    out[blockIdx.x * threads + (threadIdx.x + round) % threads] = 1;
  }
}

/// The same by the token of the arrival.
__global__ void object_asked_for_a_time(int* out, int*) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  auto token = barrier.arrive();
  while (!barrier.try_wait_for(std::move(token), cuda::std::chrono::microseconds(1))) {
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// A round without consumer_release().
__global__ void pipeline_without_release(int* out, int* in) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][threads];
  auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
  for (int round = 0, fetched = 0; round < 6; ++round) {
    for (; fetched < 6 && fetched < round + 2; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tile[fetched % 2][threadIdx.x], in, sizeof(int), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[blockIdx.x * threads + threadIdx.x] = tile[round % 2][threadIdx.x];
    if (round != 1) pipeline.consumer_release();
  }
}

__global__ void atomic_asked_again(int* out, int* flag) {
  for (bool is_set = false; !is_set;) {
    const long long begin = clock64();
    do {
      is_set = atomicAdd(flag, 0) != 0;
    } while (!is_set && clock64() - begin < 1000);
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// An atomic that counts ends the waits.
__global__ void gives_up_after_some_atomics(int* out, int* flag) {
  for (bool is_set = false; !is_set;) {
    const long long begin = clock64();
    do {
      is_set = atomicAdd(flag, 1) > 1000000;
    } while (!is_set && clock64() - begin < 1000);
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// The loop counts in memory what it looks at.
__global__ void counts_in_memory(int* out, int* flag) {
  volatile int* const seen = flag;
  while (*seen < 100000) atomicAdd(flag, 1);
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// One thread arrives late.
__global__ void waits_for_a_late_arrival(int* out, int* flag) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == blockDim.x - 1) {
      for (int i = 0; i < 2000; ++i) *reinterpret_cast<volatile int*>(flag) = i;
    }
    (void)barrier.arrive();
    barrier.wait_parity(round % 2);
    out[blockIdx.x * threads + (threadIdx.x + round) % threads] = 1;
  }
}

/// It waits again a hundred times, and ends then.
__global__ void gives_up_after_some_waits(int* out, int* flag) {
  volatile int* const seen = flag;
  for (int tries = 0; tries < 100 && *seen == 0; ++tries) {
    const long long begin = clock64();
    while (clock64() - begin < 5000 && *seen == 0) {
    }
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// One block of each cluster waits for a flag before it comes to the barrier of the cluster.
__global__ void __cluster_dims__(2, 1, 1) cluster_without_one(int* out, int* flag) {
  const cg::cluster_group cluster = cg::this_cluster();
  volatile int* const seen = flag;
  if (cluster.block_rank() == 1) {
    while (*seen == 0) {
    }
  }
  cluster.sync();
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

__global__ void two_named_barriers(int* out, int*) {
  if (threadIdx.x < 128) {
    asm volatile("bar.sync 1, 256;");
  } else {
    asm volatile("bar.sync 2, 256;");
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// It looks at a flag that nobody sets, and ends all the same: after so many rounds.
__global__ void gives_up_by_itself(int* out, int* flag) {
  volatile int* const seen = flag;
  unsigned value = threadIdx.x;
  for (int round = 0; round < 2000 && *seen == 0; ++round) value = value * 1664525u + 1013904223u;
  out[blockIdx.x * threads + threadIdx.x] = static_cast<int>(value);
}

/// By the clock.
__global__ void waits_for_a_time(int* out, int* flag) {
  volatile int* const seen = flag;
  const long long begin = clock64();
  while (*seen == 0 && clock64() - begin < 10000) {
  }
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

/// Memory is the only thing that changes: a block counts, the others wait.
__global__ void waits_for_a_long_count(int* out, int* flag) {
  volatile int* const seen = flag;
  if (threadIdx.x == 0 && blockIdx.x == blocks - 1) {
    for (int i = 0; i < 100000; ++i) *seen = i;
  }
  if (threadIdx.x == 0) {
    while (*seen != 99999) {
    }
  }
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] = 1;
}

int main(int, char** arguments) {
  struct Kernel {
    const char* name;
    void (*function)(int*, int*);
  };
#define KERNEL(name) \
  { #name, name }
  const Kernel kernels[] = {KERNEL(unequal_grid),
                            KERNEL(one_round_more),
                            KERNEL(flag_nobody_sets),
                            KERNEL(counts_its_tries),
                            KERNEL(lock_never_released),
                            KERNEL(sleeps_longer_and_longer),
                            KERNEL(lock_of_each_thread),
                            KERNEL(object_for_too_many),
                            KERNEL(cluster_without_one),
                            KERNEL(two_named_barriers),
                            KERNEL(gives_up_by_itself),
                            KERNEL(waits_for_a_time),
                            KERNEL(waits_for_a_long_count),
                            KERNEL(object_asked_again),
                            KERNEL(object_asked_in_rounds),
                            KERNEL(object_asked_for_a_time),
                            KERNEL(pipeline_without_release),
                            KERNEL(atomic_asked_again),
                            KERNEL(gives_up_after_some_atomics),
                            KERNEL(waits_for_a_late_arrival),
                            KERNEL(counts_in_memory),
                            KERNEL(flag_asked_again),
                            KERNEL(gives_up_after_some_waits)};
  int *out = nullptr, *flag = nullptr;
  cudaMalloc(&out, blocks * threads * sizeof(int));
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(out, 0, blocks * threads * sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  for (const Kernel& kernel : kernels) {
    if (std::strcmp(kernel.name, arguments[1]) != 0) continue;
    void* values[] = {&out, &flag};
    const auto* const function = reinterpret_cast<const void*>(kernel.function);
    const bool waits_as_grid = kernel.function == unequal_grid || kernel.function == one_round_more;
    if (waits_as_grid) {
      cudaLaunchCooperativeKernel(function, blocks, threads, values, 0, nullptr);
    } else {
      cudaLaunchKernel(function, blocks, threads, values, 0, nullptr);
    }
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(out);
  cudaFree(flag);
}
