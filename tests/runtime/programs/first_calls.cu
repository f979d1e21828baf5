// SPDX-License-Identifier: MIT
// Calls one function of the runtime first, each in a process of its own, then asks the driver.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void k() {}
__device__ int symbol;
struct Row {
  const char* name;
  int (*call)();
};
#define R(name, ...)                   \
  {                                    \
    name, []() -> int { __VA_ARGS__; } \
  }
static int n;
static void* p;
static cudaStream_t s;
static cudaEvent_t e;
static cudaDeviceProp prop;
static char buffer[4096];
static Row rows[] = {
    R("none", return 0),
    R("cudaGetDeviceCount", return cudaGetDeviceCount(&n)),
    R("cudaGetDevice", return cudaGetDevice(&n)),
    R("cudaSetDevice0", return cudaSetDevice(0)),
    R("cudaInitDevice", return cudaInitDevice(0, 0, 0)),
    R("cudaRuntimeGetVersion", return cudaRuntimeGetVersion(&n)),
    R("cudaDriverGetVersion", return cudaDriverGetVersion(&n)),
    R("cudaGetLastError", return cudaGetLastError()),
    R("cudaPeekAtLastError", return cudaPeekAtLastError()),
    R("cudaGetErrorString", return cudaGetErrorString(cudaErrorMemoryAllocation) == nullptr),
    R("cudaGetErrorName", return cudaGetErrorName(cudaErrorMemoryAllocation) == nullptr),
    R("cudaGetDeviceProperties", return cudaGetDeviceProperties(&prop, 0)),
    R("cudaDeviceGetAttribute", return cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0)),
    R("cudaDeviceGetAttribute_bad", return cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 99)),
    R("cudaChooseDevice", memset(&prop, 0, sizeof prop); return cudaChooseDevice(&n, &prop)),
    R("cudaDeviceGetPCIBusId", return cudaDeviceGetPCIBusId(buffer, 100, 0)),
    R("cudaDeviceCanAccessPeer", return cudaDeviceCanAccessPeer(&n, 0, 0)),
    R("cudaDeviceGetP2PAttribute",
      return cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrPerformanceRank, 0, 1)),
    R("cudaSetDeviceFlags", return cudaSetDeviceFlags(0)),
    R("cudaGetDeviceFlags", unsigned f; return cudaGetDeviceFlags(&f)),
    R("cudaSetValidDevices", int d = 0; return cudaSetValidDevices(&d, 1)),
    R("cudaGetDriverEntryPoint", cudaDriverEntryPointQueryResult q;
      return cudaGetDriverEntryPoint("cuMemCreate", &p, 0, &q)),
    R("cudaDeviceReset", return cudaDeviceReset()),
    R("cudaDeviceSynchronize", return cudaDeviceSynchronize()),
    R("cudaFree0", return cudaFree(0)),
    R("cudaFreeHost0", return cudaFreeHost(0)),
    R("cudaMalloc", return cudaMalloc(&p, 4)),
    R("cudaMallocHost", return cudaMallocHost(&p, 4)),
    R("cudaStreamCreate", return cudaStreamCreate(&s)),
    R("cudaStreamQuery0", return cudaStreamQuery(0)),
    R("cudaStreamIsCapturing0", cudaStreamCaptureStatus c; return cudaStreamIsCapturing(0, &c)),
    R("cudaEventCreate", return cudaEventCreate(&e)),
    R("cudaGraphCreate", cudaGraph_t g; return cudaGraphCreate(&g, 0)),
    R("cudaThreadExchangeStreamCaptureMode", cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
      return cudaThreadExchangeStreamCaptureMode(&m)),
    R("cudaPointerGetAttributes", cudaPointerAttributes a; return cudaPointerGetAttributes(&a, &n)),
    R("cudaFuncGetAttributes", cudaFuncAttributes a; return cudaFuncGetAttributes(&a, k)),
    R("cudaFuncSetAttribute",
      return cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024)),
    R("cudaFuncSetCacheConfig", return cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1)),
    R("cudaFuncGetName", const char* c; return cudaFuncGetName(&c, k)),
    R("cudaGetFuncBySymbol", cudaFunction_t f; return cudaGetFuncBySymbol(&f, (const void*)k)),
    R("cudaGetKernel", cudaKernel_t f; return cudaGetKernel(&f, (const void*)k)),
    R("cudaGetSymbolAddress", return cudaGetSymbolAddress(&p, symbol)),
    R("cudaOccupancy", return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k, 32, 0)),
    R("cudaMemGetInfo", size_t a, b; return cudaMemGetInfo(&a, &b)),
    R("cudaDeviceGetLimit", size_t a; return cudaDeviceGetLimit(&a, cudaLimitStackSize)),
    R("cudaDeviceSetLimit", return cudaDeviceSetLimit(cudaLimitStackSize, 2048)),
    R("cudaDeviceGetCacheConfig", cudaFuncCache c; return cudaDeviceGetCacheConfig(&c)),
    R("cudaDeviceSetCacheConfig", return cudaDeviceSetCacheConfig(cudaFuncCachePreferL1)),
    R("cudaDeviceGetStreamPriorityRange", int a, b;
      return cudaDeviceGetStreamPriorityRange(&a, &b)),
    R("cudaDeviceGetDefaultMemPool", cudaMemPool_t m; return cudaDeviceGetDefaultMemPool(&m, 0)),
    R("cudaDeviceGetMemPool", cudaMemPool_t m; return cudaDeviceGetMemPool(&m, 0)),
    R("cudaDeviceGetGraphMemAttribute", unsigned long long v;
      return cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &v)),
    R("cudaDeviceEnablePeerAccess", return cudaDeviceEnablePeerAccess(0, 0)),
    R("cudaProfilerStart", return cudaProfilerStart()),
    R("cudaProfilerStop", return cudaProfilerStop()),
    R("cudaCtxResetPersistingL2Cache", return cudaCtxResetPersistingL2Cache()),
    R("cudaMemcpyHostToHost", int a = 1, b; return cudaMemcpy(&b, &a, 4, cudaMemcpyHostToHost)),
    R("launch", k<<<1, 1>>>(); return cudaGetLastError()),
    R("cudaIpcGetMemHandle", cudaIpcMemHandle_t h; return cudaIpcGetMemHandle(&h, &n)),
    R("cudaCreateChannelDesc",
      return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat).x != 32),
    R("cudaHostAlloc", return cudaHostAlloc(&p, 4, 0)),
    R("cudaHostRegister", return cudaHostRegister(buffer, 4096, 0)),
    R("cudaSetDevice99", return cudaSetDevice(99)),
};
int main(int argc, char** argv) {
  setvbuf(stdout, 0, _IOLBF, 0);
  const int rows_n = sizeof rows / sizeof *rows;
  if (argc == 1) {
    printf("%-36s call get ctx(null) state flags active init-attr count ptr\n", "first call");
    for (int i = 0; i < rows_n; i++) {
      pid_t c = fork();
      if (!c) {
        char t[16];
        sprintf(t, "%d", i);
        execl("/proc/self/exe", argv[0], t, (char*)0);
        _exit(1);
      }
      int st;
      waitpid(c, &st, 0);
      if (st) printf("%s status %x\n", rows[i].name, st);
    }
    return 0;
  }
  const Row& r = rows[atoi(argv[1])];
  void* h = dlopen("libcuda.so.1", RTLD_LAZY);
  if (!h) {
    puts("no libcuda");
    return 1;
  }
#define D(f, ...) auto f##_ = (CUresult(*)(__VA_ARGS__))dlsym(h, #f)
  D(cuDeviceGet, CUdevice*, int);
  D(cuCtxGetCurrent, CUcontext*);
  D(cuDevicePrimaryCtxGetState, CUdevice, unsigned*, int*);
  D(cuDeviceGetAttribute, int*, int, int);
  D(cuDeviceGetCount, int*);
  D(cuPointerGetAttribute, void*, int, CUdeviceptr);
  int code = r.call();
  CUdevice d;
  CUcontext c = 0;
  unsigned fl = 77;
  int a = 77, v;
  int r1 = cuDeviceGet_(&d, 0);
  int r2 = cuCtxGetCurrent_(&c);
  int r3 = cuDevicePrimaryCtxGetState_(0, &fl, &a);
  int r4 = cuDeviceGetAttribute_(&v, 10, 0), r5 = cuDeviceGetCount_(&v),
      r6 = cuPointerGetAttribute_(&v, 2, (CUdeviceptr)16);
  printf("%-36s %4d %3d %3d %-5s %3d %4x %3d %5d %5d %5d\n", r.name, code, r1, r2,
         c ? "set" : "null", r3, fl, a, r4, r5, r6);
  fflush(stdout);
  _exit(0);
}
