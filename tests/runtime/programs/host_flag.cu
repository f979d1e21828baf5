// SPDX-License-Identifier: MIT
// Kernels that wait for what the host, or another stream, does after their launch, which hardware
// does side by side; or for what nobody does. Prints 7 where the kernel has gone on.
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
struct Pair {
  int unused[3];
  volatile int* flag;
};
__managed__ volatile int managed_flag;
__device__ Pair pair_of_device;
__device__ int flag_of_device;

__global__ void waits(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *out = 7;
}
__global__ void waits_for_variable(int* out) {
  while (managed_flag == 0) {
  }
  *out = 7;
}
__global__ void waits_by_value(Pair pair, int* out) {
  while (*pair.flag == 0) {
  }
  *out = 7;
}
__global__ void waits_by_pointer(const Pair* pair, int* out) {
  while (*pair->flag == 0) __nanosleep(100);
  *out = 7;
}
__global__ void waits_for_symbol(int* out) {
  while (atomicAdd(&flag_of_device, 0) == 0) {
  }
  *out = 7;
}
// Each block waits, with other threads behind its first.
__global__ void all_wait(volatile int* flag, int* out) {
  __shared__ int seen;
  do {
    __syncthreads();
    if (threadIdx.x == 0) seen = *flag;
    __syncthreads();
  } while (seen == 0);
  if (atomicAdd(out, 1) == 7 * blockDim.x - 1) atomicExch(out, 7);
}
// A plain load, which the fence keeps in the loop.
__global__ void waits_plainly(const int* flag, int* out) {
  while (*flag == 0) __threadfence_system();
  *out = 7;
}
// Its registers change all the time.
__global__ void waits_and_counts(volatile int* flag, int* out, unsigned long long* rounds) {
  unsigned long long count = 0;
  while (*flag == 0) ++count;
  *rounds = count;
  *out = 7;
}
__device__ __noinline__ bool is_set(const volatile int* flag) { return *flag != 0; }
__global__ void waits_by_call(volatile int* flag, int* out) {
  while (!is_set(flag)) {
  }
  *out = 7;
}
__global__ void answers(volatile int* asked, volatile int* answered, int rounds) {
  for (int i = 1; i <= rounds; ++i) {
    while (*asked != i) {
    }
    __threadfence_system();
    *answered = i;
  }
}
__global__ void sets(volatile int* flag) {
  __threadfence_system();
  *flag = 1;
}

static int *out, *device_flag;
static void *taken, *taken_of_host;
static std::thread other;
static volatile int* pinned_flag;
static cudaStream_t a, b;

static void sleep_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }
static void from_device(void (*set)()) {
  waits<<<1, 1, 0, a>>>(device_flag, out);
  set();
}
static void from_host(volatile int* flag) {
  waits<<<1, 1, 0, a>>>(flag, out);
  sleep_a_while();
  *flag = 1;
}

static void ping_pong() {
  cudaHostAlloc(&taken_of_host, 2 * sizeof(int), cudaHostAllocMapped);
  volatile int *asked = static_cast<int*>(taken_of_host), *answered = asked + 1;
  *asked = *answered = 0;
  answers<<<1, 1, 0, a>>>(asked, answered, 100);
  for (int i = 1; i <= 100; ++i) {
    *asked = i;
    while (*answered != i) {
    }
  }
  cudaMemsetAsync(out, 0, sizeof *out, a);
  waits<<<1, 1, 0, a>>>(answered, out);
}

static void registered() {
  void* page = aligned_alloc(4096, 4096);
  auto* flag = static_cast<volatile int*>(page);
  *flag = 0;
  cudaHostRegister(page, 4096, cudaHostRegisterMapped);
  from_host(flag);
}

static void taken_by_driver() {
  cuMemHostAlloc(&taken_of_host, 4, CU_MEMHOSTALLOC_DEVICEMAP);
  *static_cast<int*>(taken_of_host) = 0;
  from_host(static_cast<volatile int*>(taken_of_host));
}

// Two kernels that wait for each other.
static void both_wait() {
  answers<<<1, 1, 0, a>>>(pinned_flag, device_flag, 1);
  waits<<<1, 1, 0, b>>>(device_flag, out);
  *pinned_flag = 1;
}

static void by_other_process() {
  // The child has no CUDA: it shares the page.
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cudaHostRegister(page, 4096, cudaHostRegisterMapped);
  waits<<<1, 1, 0, a>>>(static_cast<volatile int*>(page), out);
  if (fork() == 0) {
    usleep(30000);
    *static_cast<volatile int*>(page) = 1;
    _exit(0);
  }
  while (cudaStreamQuery(a) == cudaErrorNotReady) usleep(1000);
}

static const int one = 1;
using Way = void (*)();
static const std::map<std::string, Way> ways = {
    {"pinned", [] { from_host(pinned_flag); }},
    {"registered", registered},
    {"driver", taken_by_driver},
    {"variable",
     [] {
       waits_for_variable<<<1, 1, 0, a>>>(out);
       sleep_a_while();
       managed_flag = 1;
     }},
    {"managed",
     [] {
       cudaMallocManaged(&taken, sizeof(int));
       from_host(static_cast<volatile int*>(taken));
     }},
    {"by value",
     [] {
       waits_by_value<<<1, 1, 0, a>>>({{}, pinned_flag}, out);
       *pinned_flag = 1;
     }},
    {"by pointer",
     [] {
       const Pair pair{{}, pinned_flag};
       cudaMemcpyToSymbol(pair_of_device, &pair, sizeof pair);
       void* at;
       cudaGetSymbolAddress(&at, pair_of_device);
       waits_by_pointer<<<1, 1, 0, a>>>(static_cast<const Pair*>(at), out);
       sleep_a_while();
       *pinned_flag = 1;
     }},
    {"all blocks",
     [] {
       all_wait<<<7, 64, 0, a>>>(pinned_flag, out);
       *pinned_flag = 1;
     }},
    {"plainly",
     [] {
       waits_plainly<<<1, 32, 0, a>>>(const_cast<int*>(pinned_flag), out);
       sleep_a_while();
       *pinned_flag = 1;
     }},
    {"plainly, in blocks",
     [] {
       waits_plainly<<<64, 32, 0, a>>>(const_cast<int*>(pinned_flag), out);
       sleep_a_while();
       *pinned_flag = 1;
     }},
    {"counts",
     [] {
       cudaMalloc(&taken, sizeof(unsigned long long));
       waits_and_counts<<<1, 1, 0, a>>>(pinned_flag, out, static_cast<unsigned long long*>(taken));
       *pinned_flag = 1;
     }},
    {"by call",
     [] {
       waits_by_call<<<1, 1, 0, a>>>(pinned_flag, out);
       *pinned_flag = 1;
     }},
    {"copy",
     [] {
       from_device(
           [] { cudaMemcpyAsync(device_flag, &one, sizeof one, cudaMemcpyHostToDevice, b); });
     }},
    {"symbol",
     [] {
       waits_for_symbol<<<1, 1, 0, a>>>(out);
       cudaMemcpyToSymbolAsync(flag_of_device, &one, sizeof one, 0, cudaMemcpyHostToDevice, b);
     }},
    {"set", [] { from_device([] { cudaMemsetAsync(device_flag, 1, sizeof one, b); }); }},
    {"value",
     [] {
       from_device(
           [] { cuStreamWriteValue32(b, reinterpret_cast<CUdeviceptr>(device_flag), 1, 0); });
     }},
    {"kernel", [] { from_device([] { sets<<<1, 1, 0, b>>>(device_flag); }); }},
    {"kernel before",
     [] {
       sets<<<1, 1, 0, b>>>(device_flag);
       waits<<<1, 1, 0, a>>>(device_flag, out);
     }},
    {"kernels", both_wait},
    {"function",
     [] {
       waits<<<1, 1, 0, a>>>(pinned_flag, out);
       cudaLaunchHostFunc(
           b, [](void* flag) { *static_cast<volatile int*>(flag) = 1; },
           const_cast<int*>(pinned_flag));
     }},
    {"thread",
     [] {
       waits<<<1, 1, 0, a>>>(device_flag, out);
       other = std::thread([] {
         sleep_a_while();
         cudaMemcpyAsync(device_flag, &one, sizeof one, cudaMemcpyHostToDevice, b);
       });
     }},
    {"process", by_other_process},
    {"ping pong", ping_pong},
    {"reset",
     [] {
       other = std::thread([] {
         sleep_a_while();
         *pinned_flag = 1;
       });
       waits<<<1, 1, 0, a>>>(pinned_flag, out);
       const int error = cudaDeviceReset();  // waits for the kernel
       other.join();
       std::printf("%d\n", error == 0 ? 7 : error);
       std::exit(0);
     }},
    // Nobody does anything.
    {"nobody", [] { waits<<<1, 1>>>(device_flag, out); }},
    {"nobody, pinned", [] { waits<<<1, 1>>>(pinned_flag, out); }},
    {"nobody, beside others",
     [] {
       sets<<<1, 1, 0, b>>>(const_cast<int*>(pinned_flag));
       waits<<<1, 1, 0, a>>>(device_flag, out);
     }},
    {"perhaps a thread",
     [] {
       std::thread([] { pause(); }).detach();
       waits<<<1, 1>>>(device_flag, out);
     }},
    {"too late",
     [] {
       waits<<<1, 1>>>(device_flag, out);
       cudaMemcpy(device_flag, &one, sizeof one, cudaMemcpyHostToDevice);
     }},
    {"end",
     [] {
       waits<<<1, 1>>>(device_flag, out);
       std::exit(0);
     }},
};

int main(int, char** words) {
  int result = 0;
  cudaHostAlloc(&pinned_flag, sizeof *pinned_flag, cudaHostAllocMapped);
  *pinned_flag = 0;
  cudaMalloc(&device_flag, sizeof *device_flag);
  cudaMemset(device_flag, 0, sizeof *device_flag);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  ways.at(words[1])();
  const int error = cudaDeviceSynchronize();
  if (error != 0) return std::printf("error %d\n", error) < 0;
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  if (other.joinable()) other.join();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  for (void* memory : {static_cast<void*>(out), static_cast<void*>(device_flag), taken}) {
    cudaFree(memory);
  }
  for (void* memory : {const_cast<int*>(pinned_flag), static_cast<int*>(taken_of_host)}) {
    cudaFreeHost(memory);
  }
}
