// SPDX-License-Identifier: MIT
// Memory taken, given back, registered and advised about, the wrong ways too.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "runtime_program.h"
namespace {

__device__ int dsym[4];

void allocations() {
  int* p = nullptr;
  void* v = nullptr;
  size_t pitch = 77;
  char host[64];
  R(cudaPeekAtLastError());
  R(cudaMalloc(&v, 0));
  I(v == nullptr);
  R(cudaFree(nullptr));
  R(cudaMalloc((void**)nullptr, 16));
  R(cudaMalloc(&v, (size_t)-1));
  I(v == nullptr);
  R(cudaMalloc(&v, (size_t)1 << 50));
  R(cudaMalloc(&p, 256));
  R(cudaFree(p + 1));
  R(cudaFree((char*)p + 128));
  R(cudaFree(host));
  R(cudaFree((void*)0x1000));
  R(cudaFreeHost(p));
  R(cudaFreeHost(host));
  R(cudaFreeHost(nullptr));
  R(cudaFree(p));
  R(cudaFree(p));
  R(cudaMallocHost(&v, 100));
  R(cudaFree(v));
  R(cudaFreeHost((char*)v + 4));
  R(cudaFreeHost(v));
  R(cudaFreeHost(v));
  R(cudaMallocHost(&v, 0));
  I(v == nullptr);
  R(cudaMallocHost((void**)nullptr, 10));
  R(cudaHostAlloc(&v, 100, 0x100));
  R(cudaHostAlloc(&v, 100,
                  cudaHostAllocMapped | cudaHostAllocPortable | cudaHostAllocWriteCombined));
  unsigned fl = 99;
  R(cudaHostGetFlags(&fl, v));
  I(fl);
  R(cudaHostGetFlags(&fl, host));
  R(cudaHostGetFlags(nullptr, v));
  void* dp = nullptr;
  R(cudaHostGetDevicePointer(&dp, v, 0));
  I(dp == v);
  R(cudaHostGetDevicePointer(&dp, v, 1));
  R(cudaHostGetDevicePointer(&dp, host, 0));
  R(cudaHostGetDevicePointer(nullptr, v, 0));
  R(cudaFreeHost(v));
  R(cudaMallocPitch(&v, &pitch, 0, 4));
  I(v == nullptr);
  I(pitch);
  R(cudaMallocPitch(&v, &pitch, 4, 0));
  I(v == nullptr);
  I(pitch);
  for (size_t wd : {1, 5, 511, 512, 513, 1000, 1024, 1025, 4096, 70000}) {
    R(cudaMallocPitch(&v, &pitch, wd, 3));
    I(pitch);
    I((uintptr_t)v % 512);
    R(cudaFree(v));
  }
  R(cudaMallocPitch(&v, nullptr, 10, 10));
  R(cudaMallocPitch(nullptr, &pitch, 10, 10));
  cudaPitchedPtr pp;
  memset(&pp, 0, sizeof pp);
  R(cudaMalloc3D(&pp, make_cudaExtent(100, 7, 3)));
  I(pp.pitch);
  I(pp.xsize);
  I(pp.ysize);
  R(cudaFree(pp.ptr));
  R(cudaMalloc3D(&pp, make_cudaExtent(0, 7, 3)));
  I(pp.ptr == nullptr);
  I(pp.pitch);
  I(pp.xsize);
  I(pp.ysize);
  R(cudaMalloc3D(nullptr, make_cudaExtent(1, 7, 3)));
  R(cudaMallocManaged(&v, 0));
  R(cudaMallocManaged(&v, 16, 0));
  R(cudaMallocManaged(&v, 16, 3));
  R(cudaMallocManaged(&v, 16, cudaMemAttachSingle));
  R(cudaFree(v));
  R(cudaMallocManaged(&v, 16, cudaMemAttachHost));
  R(cudaFree(v));
  R(cudaMallocManaged((void**)nullptr, 16));
  R(cudaMallocManaged(&v, (size_t)1 << 55));
  R(cudaGetSymbolAddress(&v, dsym));
  R(cudaFree(v));
  void* a[5];
  for (auto& x : a) cudaMalloc(&x, 1);
  for (int i = 0; i < 5; ++i) I((uintptr_t)a[i] % 256);
  for (auto& x : a) K(cudaFree(x));
  size_t fr = 0, tot = 0;
  R(cudaMemGetInfo(&fr, &tot));
  I(fr <= tot);
  I(fr > 0);
  R(cudaMemGetInfo(nullptr, nullptr));
  R(cudaMemGetInfo(&fr, nullptr));
  R(cudaMallocArray(nullptr, nullptr, 4, 4));
}

#include <sys/mman.h>
#include <unistd.h>
__global__ void add(int* p, int n) {
  int i = threadIdx.x;
  if (i < n) p[i] += i + 1;
}

void memory_of_the_host() {
  int *h, *d;
  unsigned f;
  cudaPointerAttributes a;
  for (unsigned fl : {0u, 1u, 2u, 4u, 3u, 7u}) {
    R(cudaHostAlloc(&h, 256, fl));
    R(cudaHostGetFlags(&f, h));
    I(f);
    for (int i = 0; i < 8; ++i) h[i] = 10 * i;
    R(cudaHostGetDevicePointer(&d, h, 0));
    I(d == h);
    add<<<1, 8>>>(d, 8);
    R(cudaDeviceSynchronize());
    I(h[7]);
    add<<<1, 8>>>(h, 8);
    cudaDeviceSynchronize();
    I(h[7]);
    R(cudaPointerGetAttributes(&a, h + 3));
    I(a.type);
    I(a.device);
    I(a.hostPointer == h + 3);
    I(a.devicePointer == h + 3);
    R(cudaFreeHost(h));
  }
  void* m = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  h = (int*)m;
  memset(m, 0, 1 << 16);
  R(cudaHostRegister(h, 8192, 0));
  R(cudaHostRegister(h, 8192, 0));
  R(cudaHostRegister(h + 1024, 8192, 0));
  R(cudaHostRegister(h + 2048, 4096, cudaHostRegisterMapped));
  R(cudaHostGetFlags(&f, h));
  I(f);
  R(cudaHostGetFlags(&f, h + 2048));
  I(f);
  R(cudaPointerGetAttributes(&a, h + 5));
  I(a.type);
  I(a.devicePointer == h + 5);
  R(cudaPointerGetAttributes(&a, h + 8192));
  I(a.type);
  I(a.device);
  add<<<1, 8>>>(h, 8);
  R(cudaDeviceSynchronize());
  I(h[7]);
  R(cudaHostGetDevicePointer(&d, h + 7, 0));
  I(d == h + 7);
  R(cudaHostUnregister(h + 1));
  R(cudaHostUnregister(h));
  R(cudaHostUnregister(h));
  R(cudaHostUnregister(h + 2048));
  R(cudaFreeHost(h));
  R(cudaHostRegister(h, 100, 0x80));
  R(cudaHostRegister(h, 100, cudaHostRegisterIoMemory));
  R(cudaHostRegister((char*)h + 100, 50, cudaHostRegisterPortable));
  R(cudaHostGetFlags(&f, (char*)h + 100));
  I(f);
  R(cudaHostUnregister((char*)h + 100));
  R(cudaHostRegister(h, 4096, cudaHostRegisterReadOnly));
  R(cudaHostUnregister(h));
  R(cudaHostRegister((void*)0x10, 4096, 0));
  int* p;
  cudaMallocHost(&p, 64);
  R(cudaHostRegister(p, 64, 0));
  R(cudaHostUnregister(p));
  cudaMalloc(&d, 64);
  R(cudaMemcpyAsync(d, p, 64, cudaMemcpyHostToDevice, 0));
  R(cudaMemcpy(p, d, 64, cudaMemcpyHostToHost));
  R(cudaMemcpy(p, d, 64, cudaMemcpyDefault));
  R(cudaMemset(p, 5, 64));
  I(p[0]);
  R(cudaMemcpy(p, p + 8, 32, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy(p, h, 32, cudaMemcpyDeviceToHost));
  R(cudaFreeHost(p));
  R(cudaPointerGetAttributes(&a, p));
  I(a.type);
  munmap(m, 1 << 16);
}

#include <thread>
__managed__ int mg[4] = {1, 2, 3, 4};
__managed__ struct {
  int a;
  double b;
} ms = {5, 2.5};
struct Node {
  int v;
  Node* next;
};
__global__ void inc(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += i;
}
__global__ void list(Node* n, int* s) {
  *s = 0;
  for (; n; n = n->next) {
    *s += n->v;
    n->v *= 2;
  }
}
__global__ void k() {
  mg[0] += mg[1];
  ms.a++;
  ms.b *= 2;
}

void managed_memory() {
  int* p;
  R(cudaMallocManaged(&p, 4000));
  int z = 0;
  for (int i = 0; i < 1000; ++i) z |= p[i];
  I(z);
  for (int i = 0; i < 1000; ++i) p[i] = 1;
  for (int r = 0; r < 3; ++r) {
    inc<<<4, 256>>>(p, 1000);
    R(cudaDeviceSynchronize());
    long s = 0;
    for (int i = 0; i < 1000; ++i) s += p[i];
    I(s);
    p[r] = -5;
  }
  Node* n;
  int* s;
  cudaMallocManaged(&n, 5 * sizeof(Node));
  cudaMallocManaged(&s, 4);
  for (int i = 0; i < 5; ++i) n[i] = {i + 1, i < 4 ? n + i + 1 : nullptr};
  list<<<1, 1>>>(n, s);
  R(cudaDeviceSynchronize());
  I(*s);
  I(n[4].v);
  k<<<1, 1>>>();
  cudaDeviceSynchronize();
  I(mg[0]);
  I(ms.a);
  printf("%g\n", ms.b);
  mg[1] = 50;
  k<<<1, 1>>>();
  cudaStreamSynchronize(0);
  I(mg[0]);
  cudaMemLocation dev = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0},
                  badl = {cudaMemLocationTypeDevice, 5};
  R(cudaMemPrefetchAsync(p, 4000, dev, 0, 0));
  R(cudaMemPrefetchAsync(p, 4000, host, 0, 0));
  R(cudaMemPrefetchAsync(p, 4000, badl, 0, 0));
  R(cudaMemPrefetchAsync(p, 0, dev, 0, 0));
  R(cudaMemPrefetchAsync(p, 4000, dev, 1, 0));
  R(cudaMemPrefetchAsync(p, (size_t)1 << 40, dev, 0, 0));
  R(cudaMemPrefetchAsync(nullptr, 4, dev, 0, 0));
  int loc;
  R(cudaMemPrefetchAsync(&loc, 4, dev, 0, 0));
  R(cudaDeviceSynchronize());
  int v = -9;
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeLastPrefetchLocation, p, 4000));
  I(v);
  R(cudaMemAdvise(p, 4000, cudaMemAdviseSetReadMostly, dev));
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, p, 4000));
  I(v);
  R(cudaMemAdvise(p, 4000, cudaMemAdviseUnsetReadMostly, dev));
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, p, 4000));
  I(v);
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, p, 4000));
  I(v);
  R(cudaMemAdvise(p, 4000, cudaMemAdviseSetPreferredLocation, dev));
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, p, 4000));
  I(v);
  R(cudaMemAdvise(p, 4000, cudaMemAdviseSetPreferredLocation, host));
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, p, 4000));
  I(v);
  int ab[3] = {7, 7, 7};
  R(cudaMemAdvise(p, 4000, cudaMemAdviseSetAccessedBy, dev));
  R(cudaMemRangeGetAttribute(ab, 12, cudaMemRangeAttributeAccessedBy, p, 4000));
  I(ab[0]);
  I(ab[1]);
  I(ab[2]);
  R(cudaMemAdvise(p, 4000, cudaMemAdviseSetAccessedBy, host));
  R(cudaMemRangeGetAttribute(ab, 12, cudaMemRangeAttributeAccessedBy, p, 4000));
  I(ab[0]);
  I(ab[1]);
  I(ab[2]);
  R(cudaMemAdvise(p, 4000, (cudaMemoryAdvise)99, dev));
  R(cudaMemAdvise(p, 0, cudaMemAdviseSetReadMostly, dev));
  R(cudaMemAdvise(p, 4000, cudaMemAdviseSetAccessedBy, badl));
  R(cudaMemRangeGetAttribute(&v, 3, cudaMemRangeAttributeReadMostly, p, 4000));
  R(cudaMemRangeGetAttribute(&v, 4, (cudaMemRangeAttribute)99, p, 4000));
  R(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, p, 1 << 30));
  cudaPointerAttributes a;
  R(cudaPointerGetAttributes(&a, p + 10));
  I(a.type);
  I(a.device);
  I(a.devicePointer == p + 10);
  I(a.hostPointer == p + 10);
  R(cudaMemset(p, 1, 8));
  I(p[0]);
  R(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
  R(cudaMemcpy(&v, p, 4, cudaMemcpyHostToHost));
  R(cudaMemcpy(&v, p + 1, 4, cudaMemcpyDefault));
  I(v);
  R(cudaMemcpy(p, s, 4, cudaMemcpyHostToDevice));
  I(p[0]);
  R(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachHost));
  cudaStream_t st;
  cudaStreamCreate(&st);
  R(cudaStreamAttachMemAsync(st, p, 0, cudaMemAttachSingle));
  R(cudaStreamAttachMemAsync(st, p, 0, 99));
  R(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle));
  R(cudaStreamAttachMemAsync(st, p, 5, cudaMemAttachGlobal));
  R(cudaStreamAttachMemAsync(st, p + 1, 0, cudaMemAttachGlobal));
  R(cudaFree(p + 1));
  R(cudaFree(p));
  R(cudaFree(n));
  std::thread([&] { *s = 77; }).join();
  inc<<<1, 1>>>(s, 1);
  cudaDeviceSynchronize();
  I(*s);
  R(cudaFree(s));
  R(cudaFree(mg));
}

void pools() {
  cudaMemPool_t p = nullptr;
  cudaMemPoolProps pp = {};
  R(cudaMemPoolCreate(&p, &pp));
  pp.allocType = cudaMemAllocationTypePinned;
  R(cudaMemPoolCreate(&p, &pp));
  pp.location = {cudaMemLocationTypeDevice, 9};
  R(cudaMemPoolCreate(&p, &pp));
  pp.location.id = 0;
  R(cudaMemPoolCreate(&p, &pp));
  cudaMemAccessDesc ad = {pp.location, cudaMemAccessFlagsProtRead};
  R(cudaMemPoolSetAccess(p, &ad, 1));
  ad.flags = cudaMemAccessFlagsProtReadWrite;
  R(cudaMemPoolSetAccess(p, &ad, 1));
  R(cudaMemPoolDestroy(p));
}

}  // namespace

int main() {
  allocations();
  memory_of_the_host();
  managed_memory();
  pools();
}
