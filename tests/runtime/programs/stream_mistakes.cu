// SPDX-License-Identifier: MIT
// Mistakes with streams and events, and what streams and a device say of themselves.
#include <cstdio>
#include <cstring>

#include "runtime_program.h"
static void streams() {
  cudaStream_t s;
  int pr = 9;
  unsigned fl = 9;
  for (const int p : {-100, -5, 0, 1, 100}) {
    R(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, p));
    R(cudaStreamGetPriority(s, &pr));
    I(pr);
    R(cudaStreamGetFlags(s, &fl));
    I(fl);
    R(cudaStreamDestroy(s));
  }
  R(cudaStreamCreate(&s));
  R(cudaStreamAddCallback(s, nullptr, nullptr, 0));
  // clang-format off
  R(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
  // clang-format on
  R(cudaLaunchHostFunc(s, nullptr, nullptr));
  void* m;
  R(cudaStreamAttachMemAsync(s, nullptr));
  R(cudaMalloc(&m, 16));
  R(cudaStreamAttachMemAsync(s, m));
  cudaStreamAttrValue av;
  std::memset(&av, 0, sizeof av);
  R(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
  I(av.syncPolicy);
  av.syncPolicy = cudaSyncPolicyYield;
  R(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
  R(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
  I(av.syncPolicy);
}

static void device() {
  unsigned df = 0;
  R(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  R(cudaGetDeviceFlags(&df));
  I(df);
  R(cudaSetDeviceFlags(3));
  R(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceMapHost));
  R(cudaGetDeviceFlags(&df));
  I(df);
  R(cudaDeviceEnablePeerAccess(0, 0));
  R(cudaDeviceEnablePeerAccess(64, 0));
}

static void nothing_given() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  void* d;
  cudaMalloc(&d, 256);
  char h[256];
  R(cudaStreamEndCapture(s, nullptr));
  R(cudaFreeAsync(nullptr, s));
  R(cudaMemcpy2DToArray(nullptr, 0, 0, h, 4, 4, 4, cudaMemcpyHostToDevice));
  R(cudaMemcpy2DFromArray(h, 4, nullptr, 0, 0, 4, 4, cudaMemcpyDeviceToHost));
  R(cudaHostRegister(d, 16, 0));
  R(cudaStreamGetFlags(0, nullptr));
  R(cudaStreamGetPriority(s, nullptr));
  R(cudaStreamGetId(s, nullptr));
  R(cudaDeviceGetCacheConfig(nullptr));
}

/// Another stream is not to be waited for either, unless the capture is relaxed.
static void captures() {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  for (int m = 0; m < 3; ++m) {
    const char* names[] = {"global", "threadlocal", "relaxed"};
    std::printf("== mode %s\n", names[m]);
    K(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)m));
    K(cudaStreamSynchronize(t));
    cudaStreamCaptureStatus st;
    K(cudaStreamIsCapturing(s, &st));
    I(st);
    cudaGraph_t g;
    const cudaError_t ended = cudaStreamEndCapture(s, &g);
    std::printf("end %s graph %s\n", cudaGetErrorName(ended), g == nullptr ? "null" : "set");
    cudaGetLastError();
  }
  cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
  K(cudaThreadExchangeStreamCaptureMode(&m));
  I(m);
  K(cudaThreadExchangeStreamCaptureMode(&m));
  I(m);
  m = (cudaStreamCaptureMode)8;
  K(cudaThreadExchangeStreamCaptureMode(&m));
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  streams();
  device();
  nothing_given();
  captures();
}
