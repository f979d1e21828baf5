// SPDX-License-Identifier: MIT
// Two processes that share device memory and an event: a child that was forked before either of
// them used CUDA, and one that the program starts anew. They take turns, told by bytes in pipes.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
__global__ void fill(int* data, int from) { data[threadIdx.x] = from + threadIdx.x; }
__global__ void add(int* data, int more) { atomicAdd(data + threadIdx.x, more); }

#define SAY(call) std::printf("%-6s %-28s %s\n", who, cudaGetErrorName(call), #call)

namespace {

constexpr int n = 64;
const char* who = "parent";

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event, back, late;
};

void put(int pipe, const void* bytes, size_t count) {
  if (write(pipe, bytes, count) != static_cast<ssize_t>(count)) _exit(9);
}
void get(int pipe, void* bytes, size_t count) {
  for (size_t at = 0; at < count;) {
    const ssize_t got = read(pipe, static_cast<char*>(bytes) + at, count - at);
    if (got <= 0) _exit(8);
    at += static_cast<size_t>(got);
  }
}
void tell(int pipe) {
  std::fflush(stdout);
  put(pipe, "x", 1);
}
void hear(int pipe) {
  char byte;
  get(pipe, &byte, 1);
}

void CUDART_CB wait_for_child(void* pipe) { hear(*static_cast<int*>(pipe)); }

int child(int from_parent, int to_parent) {
  who = "child";
  Handles handles;
  get(from_parent, &handles, sizeof handles);
  int *data = nullptr, *again = nullptr, host[n] = {};
  cudaEvent_t event, back, late;
  cudaStream_t stream;
  SAY(cudaSetDevice(0));
  SAY(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&data), handles.memory,
                           cudaIpcMemLazyEnablePeerAccess));
  SAY(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), handles.memory,
                           cudaIpcMemLazyEnablePeerAccess));
  std::printf("%-6s the same pointer: %d\n", who, data == again);
  cudaPointerAttributes attributes{};
  SAY(cudaPointerGetAttributes(&attributes, data));
  std::printf("%-6s memory of type %d\n", who, attributes.type);
  SAY(cudaIpcOpenEventHandle(&event, handles.event));
  SAY(cudaIpcOpenEventHandle(&back, handles.back));
  SAY(cudaIpcOpenEventHandle(&late, handles.late));
  SAY(cudaStreamCreate(&stream));
  SAY(cudaEventSynchronize(event));
  SAY(cudaEventQuery(event));
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d\n", who, host[0], host[n - 1]);
  SAY(cudaStreamWaitEvent(stream, event, 0));
  add<<<1, n, 0, stream>>>(data, 1000);
  SAY(cudaEventRecord(back, stream));
  tell(to_parent);
  hear(from_parent);

  // The parent has added to it.
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d\n", who, host[0], host[n - 1]);

  // Something of the parent's is not done yet, and this follows it.
  SAY(cudaEventQuery(late));
  SAY(cudaStreamWaitEvent(stream, late, 0));
  add<<<1, n, 0, stream>>>(data, 7);
  SAY(cudaStreamQuery(stream));
  tell(to_parent);
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaEventQuery(late));
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d\n", who, host[0], host[n - 1]);
  SAY(cudaEventDestroy(event));
  SAY(cudaEventDestroy(back));
  SAY(cudaEventDestroy(late));
  SAY(cudaIpcCloseMemHandle(data));
  SAY(cudaMemset(data, 0, sizeof host));  // it was opened twice
  SAY(cudaDeviceSynchronize());
  SAY(cudaIpcCloseMemHandle(data));
  SAY(cudaIpcCloseMemHandle(data));
  tell(to_parent);
  return 0;
}

void parent(int to_child, int from_child) {
  int *small = nullptr, *data = nullptr, host[n] = {};
  Handles handles{};
  cudaEvent_t event, back, late, plain;
  cudaStream_t stream;
  SAY(cudaMalloc(&small, 16));
  SAY(cudaMalloc(&data, sizeof host));
  SAY(cudaStreamCreate(&stream));
  fill<<<1, n, 0, stream>>>(data, 100);
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaIpcGetMemHandle(&handles.memory, data));
  cudaIpcMemHandle_t other{};
  SAY(cudaIpcGetMemHandle(&other, host));
  void* of_pool = nullptr;
  SAY(cudaMallocAsync(&of_pool, 256, stream));
  SAY(cudaIpcGetMemHandle(&other, of_pool));
  SAY(cudaFreeAsync(of_pool, stream));
  void* own = nullptr;
  SAY(cudaIpcOpenMemHandle(&own, other, cudaIpcMemLazyEnablePeerAccess));  // never filled in
  SAY(cudaIpcOpenMemHandle(&own, handles.memory, cudaIpcMemLazyEnablePeerAccess));
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d\n", who, host[0], host[n - 1]);
  SAY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  SAY(cudaEventCreateWithFlags(&back, cudaEventDisableTiming | cudaEventInterprocess));
  SAY(cudaEventCreateWithFlags(&late, cudaEventDisableTiming | cudaEventInterprocess));
  SAY(cudaEventCreateWithFlags(&plain, cudaEventInterprocess));
  SAY(cudaIpcGetEventHandle(&handles.event, event));
  SAY(cudaIpcGetEventHandle(&handles.back, back));
  SAY(cudaIpcGetEventHandle(&handles.late, late));
  SAY(cudaEventQuery(back));  // nobody has recorded it
  add<<<1, n, 0, stream>>>(data, 1);
  SAY(cudaEventRecord(event, stream));
  std::fflush(stdout);
  put(to_child, &handles, sizeof handles);
  hear(from_child);

  SAY(cudaStreamWaitEvent(stream, back, 0));
  add<<<1, n, 0, stream>>>(data, 10000);
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaEventSynchronize(back));
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d\n", who, host[0], host[n - 1]);
  SAY(cudaLaunchHostFunc(stream, wait_for_child, &from_child));
  fill<<<1, n, 0, stream>>>(data, 5);
  SAY(cudaEventRecord(late, stream));
  tell(to_child);
  const cudaError_t done = cudaStreamSynchronize(stream);
  hear(from_child);
  SAY(done);

  // The child has set it and let it go.
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%-6s finds %d %d\n", who, host[0], host[n - 1]);
  SAY(cudaIpcCloseMemHandle(data));  // its own
  SAY(cudaEventDestroy(event));
  SAY(cudaEventDestroy(back));
  SAY(cudaEventDestroy(late));
  SAY(cudaFree(data));
  SAY(cudaFree(small));
  SAY(cudaGetLastError());
}

}  // namespace

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
  if (count == 3) return child(std::atoi(words[1]), std::atoi(words[2]));
  for (const bool starts_anew : {false, true}) {
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0) return 7;
    // The one that is started anew comes from a process that has CUDA already.
    const pid_t id = fork();
    if (id == 0 && !starts_anew) return child(down[0], up[1]);
    if (id == 0) {
      char from[16], to[16];
      std::snprintf(from, sizeof from, "%d", down[0]);
      std::snprintf(to, sizeof to, "%d", up[1]);
      execl("/proc/self/exe", words[0], from, to, nullptr);
      _exit(6);
    }
    who = "parent";
    parent(down[1], up[0]);
    std::fflush(stdout);
    int status = 0;
    waitpid(id, &status, 0);
    std::printf("child ended with %d\n", status);
  }
}
