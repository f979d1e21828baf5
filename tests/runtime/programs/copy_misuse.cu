// SPDX-License-Identifier: MIT
// Copies of every shape, to symbols and arrays as well, the wrong ways too.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "runtime_program.h"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // copies of arrays by the line

namespace {

__device__ int dsym[8];
__constant__ int csym[8];

void lines() {
  char h[64], g[64];
  char *d, *e;
  memset(h, 1, 64);
  memset(g, 2, 64);
  K(cudaMalloc(&d, 64));
  K(cudaMalloc(&e, 64));
  R(cudaMemcpy(d, h, 64, cudaMemcpyHostToDevice));
  R(cudaMemcpy(d, h, 64, (cudaMemcpyKind)7));
  R(cudaMemcpy(d, h, 64, (cudaMemcpyKind)-1));
  R(cudaMemcpy(d, h, 0, (cudaMemcpyKind)7));
  R(cudaMemcpy(nullptr, h, 4, cudaMemcpyHostToDevice));
  R(cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice));
  R(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  R(cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyDefault));
  R(cudaMemcpy(nullptr, d, 4, cudaMemcpyDeviceToHost));
  R(cudaMemcpy(nullptr, d, 4, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy(d, h, 4, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy(h, g, 64, cudaMemcpyHostToDevice));
  R(cudaMemcpy(h, g, 64, cudaMemcpyDeviceToHost));
  R(cudaMemcpy(h, g, 64, cudaMemcpyHostToHost));
  I(h[5]);
  R(cudaMemcpy(h, d, 64, cudaMemcpyDefault));
  I(h[5]);
  R(cudaMemcpy(g, h, 64, cudaMemcpyDefault));
  I(g[5]);
  R(cudaMemcpy(d, e, 64, cudaMemcpyDefault));
  R(cudaMemcpy(d, h, (size_t)1 << 40, cudaMemcpyHostToDevice));
  R(cudaMemset(nullptr, 0, 4));
  R(cudaMemset(nullptr, 0, 0));
  R(cudaMemset(d, 300, 64));
  R(cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost));
  I(h[0]);
  R(cudaMemset(d, -1, 10));
  R(cudaMemset(d, 0, (size_t)1 << 40));
  R(cudaMemset(h, 0, 4));
  R(cudaMemcpyToSymbol(dsym, h, 33));
  R(cudaMemcpyToSymbol(dsym, h, 4, 32));
  R(cudaMemcpyToSymbol(dsym, h, 4, 28));
  R(cudaMemcpyToSymbol(dsym, h, 4, (size_t)-4));
  R(cudaMemcpyToSymbol(dsym, h, 0, 40));
  R(cudaMemcpyToSymbol(dsym, h, 4, 0, cudaMemcpyDeviceToHost));
  R(cudaMemcpyToSymbol(dsym, d, 4, 0, cudaMemcpyDeviceToDevice));
  R(cudaMemcpyToSymbol(dsym, h, 4, 0, cudaMemcpyDefault));
  R(cudaMemcpyToSymbol(dsym, h, 4, 0, cudaMemcpyHostToHost));
  R(cudaMemcpyFromSymbol(h, dsym, 33));
  R(cudaMemcpyFromSymbol(h, dsym, 4, 29));
  R(cudaMemcpyFromSymbol(h, dsym, 4, 0, cudaMemcpyHostToDevice));
  R(cudaMemcpyFromSymbol(nullptr, dsym, 4));
  R(cudaMemcpyToSymbol(dsym, nullptr, 4));
  static int hostvar;
  void* v;
  size_t n = 5;
  R(cudaMemcpyToSymbol(hostvar, h, 4));
  R(cudaGetSymbolAddress(&v, hostvar));
  R(cudaGetSymbolSize(&n, hostvar));
  R(cudaGetSymbolAddress(&v, (const void*)nullptr));
  R(cudaGetSymbolSize(&n, (const void*)nullptr));
  R(cudaGetSymbolSize(&n, dsym));
  I(n);
  R(cudaGetSymbolSize(&n, csym));
  I(n);
}

__device__ int a[8] = {1, 2, 3};
__constant__ float c[4] = {1.5f, 2.5f};
__managed__ int m[4] = {9, 8, 7, 6};
__device__ int2 st = {4, 5};
static __device__ unsigned char by[3] = {1, 2, 3};
namespace ns {
__device__ double dd = 0.1;
}
template <class T>
__device__ T tv = T(3);
__device__ int* ptr;
__device__ const int cc = 77;
struct S {
  char x;
  int y;
  short z;
};
__device__ S s = {'a', -2, 9};
__global__ void k(int* o) {
  o[0] = a[0] + a[1];
  o[1] = (int)(c[0] * 10);
  o[2] = m[0];
  o[3] = st.x * st.y;
  o[4] = by[2];
  o[5] = (int)(ns::dd * 100);
  o[6] = tv<int> + (int)tv<float>;
  o[7] = ptr ? *ptr : -1;
  o[8] = s.x + s.y + s.z;
  a[7] += 5;
  m[3]++;
  ns::dd += 1;
  tv<int> ++;
  o[9] = cc;
}

void symbols() {
  int *o, h[10];
  cudaMalloc(&o, 40);
  auto show = [&] {
    k<<<1, 1>>>(o);
    cudaMemcpy(h, o, 40, cudaMemcpyDeviceToHost);
    for (int x : h) printf("%d ", x);
    printf("\n");
  };
  printf("host reads managed before any launch %d\n", m[1]);
  m[0] = 100;
  show();
  show();
  size_t n;
  void* p;
  R(cudaGetSymbolSize(&n, a));
  I(n);
  R(cudaGetSymbolSize(&n, c));
  I(n);
  R(cudaGetSymbolSize(&n, m));
  I(n);
  R(cudaGetSymbolSize(&n, st));
  I(n);
  R(cudaGetSymbolSize(&n, by));
  I(n);
  R(cudaGetSymbolSize(&n, ns::dd));
  I(n);
  R(cudaGetSymbolSize(&n, tv<int>));
  I(n);
  R(cudaGetSymbolSize(&n, s));
  I(n);
  int v[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  R(cudaMemcpyToSymbol(a, v, 32));
  show();
  R(cudaMemcpyToSymbol(a, v, 8, 4));
  show();
  R(cudaMemcpyFromSymbol(v, a, 32));
  for (int x : v) printf("%d ", x);
  printf("\n");
  R(cudaMemcpyToSymbol(a, v, 33));
  R(cudaMemcpyToSymbol(a, v, 4, 32));
  R(cudaMemcpyToSymbol(a, v, 0, 32));
  R(cudaMemcpyToSymbol(a, v, 0, 33));
  R(cudaMemcpyToSymbol(a, v, 8, 28));
  R(cudaMemcpyToSymbol(a, v, 4, (size_t)-4));
  R(cudaMemcpyToSymbol(a, v, 4, 0, cudaMemcpyDeviceToHost));
  R(cudaMemcpyToSymbol(a, v, 4, 0, cudaMemcpyHostToHost));
  R(cudaMemcpyToSymbol(a, v, 4, 0, (cudaMemcpyKind)9));
  R(cudaMemcpyToSymbol(a, v, 4, 0, cudaMemcpyDefault));
  R(cudaMemcpyToSymbol(a, o, 4, 0, cudaMemcpyDeviceToDevice));
  R(cudaMemcpyFromSymbol(v, a, 33));
  R(cudaMemcpyFromSymbol(v, a, 4, 0, cudaMemcpyHostToDevice));
  R(cudaMemcpyFromSymbol(o, a, 4, 0, cudaMemcpyDeviceToDevice));
  R(cudaMemcpyFromSymbol(v, a, 4, 31));
  R(cudaMemcpyToSymbol(a, nullptr, 4));
  R(cudaMemcpyFromSymbol(nullptr, a, 4));
  float f[4] = {0.5f, 0, 0, 0};
  R(cudaMemcpyToSymbol(c, f, 4));
  show();
  double dd = 5;
  R(cudaMemcpyToSymbol(ns::dd, &dd, 8));
  R(cudaMemcpyFromSymbol(&dd, ns::dd, 8));
  printf("%g\n", dd);
  int t = 50;
  R(cudaMemcpyToSymbol(tv<int>, &t, 4));
  show();
  R(cudaGetSymbolAddress(&p, a));
  R(cudaMemcpyToSymbol(ptr, &p, 8));
  R(cudaMemset(p, 0, 32));
  show();
  cudaPointerAttributes pa;
  R(cudaPointerGetAttributes(&pa, p));
  I(pa.type);
  I(pa.device);
  R(cudaGetSymbolAddress(&p, m));
  I(p == (void*)m);
  R(cudaPointerGetAttributes(&pa, p));
  I(pa.type);
  R(cudaGetSymbolAddress(&p, c));
  R(cudaPointerGetAttributes(&pa, p));
  I(pa.type);
  R(cudaMemcpy(f, p, 16, cudaMemcpyDeviceToHost));
  printf("%g %g\n", f[0], f[1]);
  cudaDeviceSynchronize();
  printf("%d %d\n", m[0], m[3]);
  int z = 5;
  R(cudaMemcpyToSymbol(m, &z, 4));
  printf("%d\n", m[0]);
  R(cudaMemcpyToSymbolAsync(a, v, 4, 0, cudaMemcpyHostToDevice, 0));
  static int hostv;
  R(cudaMemcpyToSymbol(hostv, v, 4));
  R(cudaGetSymbolAddress(&p, hostv));
  R(cudaGetSymbolSize(&n, (const void*)"a"));
  R(cudaGetSymbolSize(&n, (const void*)0));
}

template <class T>
void dump(const char* n, const T* p, int c) {
  printf("%s", n);
  unsigned h = 2166136261u;
  for (int i = 0; i < c; ++i) {
    h = (h ^ (unsigned char)p[i]) * 16777619u;
    if (i < 24) printf(" %d", (int)p[i]);
  }
  printf(" | %08x\n", h);
}

void boxes() {
  static unsigned char h[4096], g[4096];
  for (int i = 0; i < 4096; ++i) h[i] = (unsigned char)(i * 7 + i / 64);
  unsigned char *d, *e;
  size_t pt;
  R(cudaMallocPitch(&d, &pt, 50, 10));
  I(pt);
  R(cudaMemset2D(d, pt, 0xaa, pt, 10));
  R(cudaMemcpy2D(d, pt, h, 64, 50, 10, cudaMemcpyHostToDevice));
  R(cudaMemcpy2D(g, 50, d, pt, 50, 10, cudaMemcpyDeviceToHost));
  dump("rows", g, 500);
  R(cudaMemcpy2D(g, 40, d + pt + 3, pt * 2, 20, 4, cudaMemcpyDefault));
  dump("stride 2", g, 160);
  R(cudaMemset2D(d + 5, pt, 3, 7, 6));
  R(cudaMemcpy2D(g, 64, d, pt, 64, 10, cudaMemcpyDeviceToHost));
  dump("set", g, 640);
  R(cudaMemcpy2D(d + 10 * 0, pt, d + pt * 5, pt, 50, 5, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy2D(g, 64, d, pt, 64, 10, cudaMemcpyDefault));
  dump("d2d", g, 640);
  memset(g, 0, sizeof g);
  R(cudaMemcpy2D(g, 30, h, 64, 30, 5, cudaMemcpyHostToHost));
  dump("h2h", g, 200);
  R(cudaMemcpy2D(g + 3, 31, h, 64, 30, 5, cudaMemcpyDefault));
  dump("default host", g, 200);
  R(cudaMemcpy2D(g, 30, h, 64, 31, 5, cudaMemcpyHostToHost));
  cudaPitchedPtr q;
  R(cudaMalloc3D(&q, make_cudaExtent(40, 6, 4)));
  I(q.pitch);
  R(cudaMemset3D(q, 9, make_cudaExtent(40, 6, 4)));
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(h, 48, 48, 8);
  c.dstPtr = q;
  c.extent = make_cudaExtent(30, 5, 3);
  c.srcPos = make_cudaPos(2, 1, 1);
  c.dstPos = make_cudaPos(4, 1, 1);
  c.kind = cudaMemcpyHostToDevice;
  R(cudaMemcpy3D(&c));
  cudaMemcpy3DParms b = {};
  b.srcPtr = q;
  b.dstPtr = make_cudaPitchedPtr(g, 40, 40, 6);
  b.extent = make_cudaExtent(40, 6, 4);
  b.kind = cudaMemcpyDeviceToHost;
  R(cudaMemcpy3D(&b));
  dump("3d", g, 960);
  b.kind = cudaMemcpyDefault;
  memset(g, 0, 960);
  R(cudaMemcpy3DAsync(&b, 0));
  cudaDeviceSynchronize();
  dump("3d default", g, 960);
  c.extent.width = 0;
  R(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(47, 5, 3);
  R(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(30, 6, 3);
  R(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(30, 5, 4);
  R(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(30, 5, 3);
  c.kind = (cudaMemcpyKind)9;
  R(cudaMemcpy3D(&c));
  c.kind = cudaMemcpyDeviceToHost;
  R(cudaMemcpy3D(&c));
  c.kind = cudaMemcpyHostToDevice;
  cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>(), u4 = cudaCreateChannelDesc<uchar4>(),
                        i2 = cudaCreateChannelDesc<int2>();
  printf("%d %d %d %d %d\n", u4.x, u4.y, u4.z, u4.w, u4.f);
  printf("%d %d %d %d %d\n", i2.x, i2.y, i2.z, i2.w, i2.f);
  cudaArray_t a, a2, a3;
  R(cudaMallocArray(&a, &u4, 16, 8));
  R(cudaMallocArray(&a2, &f1, 20));
  R(cudaMalloc3DArray(&a3, &f1, make_cudaExtent(8, 4, 3)));
  cudaChannelFormatDesc ds;
  cudaExtent ex;
  unsigned fl;
  for (auto z : {a, a2, a3}) {
    R(cudaArrayGetInfo(&ds, &ex, &fl, z));
    printf("%d%d%d%d f%d %zu %zu %zu flags %u\n", ds.x, ds.y, ds.z, ds.w, ds.f, ex.width, ex.height,
           ex.depth, fl);
  }
  R(cudaMemcpy2DToArray(a, 0, 0, h, 64, 64, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArray(a, 8, 2, h, 64, 20, 3, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DFromArray(g, 64, a, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
  dump("array", g, 512);
  R(cudaMemcpy2DToArray(a, 8, 2, h, 64, 60, 3, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArray(a, 0, 6, h, 64, 60, 3, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 50, 60, 3, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DFromArray(d, pt, a, 4, 1, 40, 7, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy2D(g, 64, d, pt, 50, 10, cudaMemcpyDeviceToHost));
  dump("array d2d", g, 640);
  cudaArray_t a4;
  cudaMallocArray(&a4, &u4, 16, 8);
  R(cudaMemcpy2DArrayToArray(a4, 0, 0, a, 16, 1, 32, 4));
  R(cudaMemcpy2DFromArray(g, 64, a4, 0, 0, 32, 4, cudaMemcpyDefault));
  dump("a2a", g, 100);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(h, 32, 8, 4);
  p.dstArray = a3;
  p.extent = make_cudaExtent(8, 4, 3);
  p.kind = cudaMemcpyHostToDevice;
  R(cudaMemcpy3D(&p));
  p.dstPos.x = 1;
  R(cudaMemcpy3D(&p));
  p = {};
  p.srcArray = a3;
  p.srcPos = make_cudaPos(2, 1, 1);
  p.dstPtr = make_cudaPitchedPtr(g, 16, 4, 3);
  p.extent = make_cudaExtent(4, 3, 2);
  p.kind = cudaMemcpyDeviceToHost;
  R(cudaMemcpy3D(&p));
  dump("3d array", g, 96);
  R(cudaMallocArray(&a4, &u4, 0, 8));
  R(cudaMallocArray(&a4, &u4, 200000, 8));
  R(cudaMallocArray(&a4, &u4, 70000, 70000));
  cudaChannelFormatDesc bad = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
  R(cudaMallocArray(&a4, &bad, 4, 4));
  bad = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  R(cudaMallocArray(&a4, &bad, 4, 4));
  bad = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat);
  R(cudaMallocArray(&a4, &bad, 4, 4));
  R(cudaMallocArray(&a4, &u4, 4, 4, 0x8000));
  R(cudaMalloc3DArray(&a4, &f1, make_cudaExtent(8, 8, 6), cudaArrayCubemap));
  R(cudaMalloc3DArray(&a4, &f1, make_cudaExtent(8, 7, 6), cudaArrayCubemap));
  R(cudaMalloc3DArray(&a4, &f1, make_cudaExtent(8, 8, 5), cudaArrayLayered));
  R(cudaFreeArray(a));
  R(cudaFreeArray(a2));
  R(cudaFreeArray(a3));
  R(cudaMalloc(&e, 256));
  R(cudaMemcpy(e, h, 256, cudaMemcpyHostToDevice));
  R(cudaMemcpy(e + 128, e, 128, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy(g, e, 256, cudaMemcpyDeviceToHost));
  dump("half", g, 256);
  R(cudaMemcpy(e, e, 256, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy(g, e, 256, cudaMemcpyDeviceToHost));
  dump("self", g, 256);
  R(cudaMemsetAsync(e + 1, 0x1ff, 3, 0));
  R(cudaMemcpy(g, e, 8, cudaMemcpyDeviceToHost));
  dump("set", g, 8);
  c.kind = cudaMemcpyHostToDevice;
  c.srcPtr.ptr = nullptr;
  R(cudaMemcpy3D(&c));
  c = {};
  R(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(1, 1, 1);
  R(cudaMemcpy3D(&c));
}

void directions_of_arrays() {
  static char h[256];
  char* d;
  const cudaChannelFormatDesc numbers = cudaCreateChannelDesc<int>();
  cudaArray_t a, b;
  cudaStream_t s;
  K(cudaMalloc(&d, 256));
  K(cudaMallocArray(&a, &numbers, 8, 8));
  K(cudaMallocArray(&b, &numbers, 8, 8));
  K(cudaStreamCreate(&s));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 8, cudaMemcpyHostToHost));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 8, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 8, cudaMemcpyDefault));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 36, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 64, 36, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 36, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 64, 36, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 0, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 8, (cudaMemcpyKind)17));
  R(cudaMemcpy2DToArray(a, 0, 0, h, 64, 36, 8, (cudaMemcpyKind)17));
  R(cudaMemcpy2DToArray(a, 0, 0, nullptr, 32, 32, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DToArrayAsync(a, 0, 0, h, 32, 32, 8, cudaMemcpyDeviceToHost, s));
  R(cudaMemcpy2DToArrayAsync(a, 0, 0, h, 32, 36, 8, cudaMemcpyHostToDevice, s));
  R(cudaMemcpy2DFromArray(h, 32, a, 0, 0, 32, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DFromArray(h, 32, a, 0, 0, 32, 8, cudaMemcpyHostToHost));
  R(cudaMemcpy2DFromArray(h, 32, a, 0, 0, 32, 8, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy2DFromArray(d, 32, a, 0, 0, 32, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DFromArray(d, 32, a, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DFromArray(h, 32, a, 0, 0, 36, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DFromArray(h, 64, a, 0, 0, 36, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DFromArray(h, 64, a, 0, 0, 36, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DFromArrayAsync(h, 32, a, 0, 0, 32, 8, cudaMemcpyHostToDevice, s));
  R(cudaMemcpyToArray(a, 0, 0, h, 64, cudaMemcpyDeviceToHost));
  R(cudaMemcpyToArray(a, 0, 0, h, 64, cudaMemcpyHostToHost));
  R(cudaMemcpyToArray(a, 0, 0, h, 640, cudaMemcpyDeviceToHost));
  R(cudaMemcpyFromArray(h, a, 0, 0, 64, cudaMemcpyHostToDevice));
  R(cudaMemcpyFromArray(h, a, 0, 0, 640, cudaMemcpyHostToDevice));
  R(cudaMemcpyToArrayAsync(a, 0, 0, h, 64, cudaMemcpyDeviceToHost, s));
  R(cudaMemcpyFromArrayAsync(h, a, 0, 0, 64, cudaMemcpyHostToDevice, s));
  R(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 8, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
  R(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 36, 8, cudaMemcpyDeviceToDevice));
  R(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 64, cudaMemcpyHostToHost));
}

}  // namespace

int main() {
  lines();
  symbols();
  boxes();
  directions_of_arrays();
}
