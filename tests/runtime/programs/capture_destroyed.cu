// SPDX-License-Identifier: MIT
// The effects of a capture on streams and events that are destroyed in it.
#include <cuda_runtime.h>
#include <cstdio>
__global__ void one(int* p) { *p += 1; }
static int* d;
#define S(x)                                        \
  do {                                              \
    cudaError_t e_ = x;                             \
    printf("  %s: %s\n", #x, cudaGetErrorName(e_)); \
  } while (0)
#define Q(x)                                                \
  do {                                                      \
    cudaError_t e_ = x;                                     \
    if (e_) printf("  %s: %s\n", #x, cudaGetErrorName(e_)); \
  } while (0)
static void run(const char* name, int mode, int what) {
  printf("%s, mode %d\n", name, mode);
  cudaStream_t a, b;
  cudaEvent_t f, j;
  cudaGraph_t g = 0;
  cudaGraphExec_t x = 0;
  cudaStreamCaptureStatus c;
  unsigned long long id;
  Q(cudaMemset(d, 0, 4));
  Q(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  Q(cudaEventCreate(&f));
  Q(cudaEventCreate(&j));
  Q(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  Q(cudaStreamBeginCapture(a, (cudaStreamCaptureMode)mode));
  one<<<1, 1, 0, a>>>(d);
  Q(cudaEventRecord(f, a));
  Q(cudaStreamWaitEvent(b, f, 0));
  one<<<1, 1, 0, b>>>(d);
  if (what == 1) {
    S(cudaStreamDestroy(b));
  }  // never joined
  if (what == 5) {
    S(cudaStreamDestroy(a));
    S(cudaStreamIsCapturing(b, &c));
    printf("  status %d\n", c);
    S(cudaStreamEndCapture(b, &g));
    S(cudaStreamDestroy(b));
    return;
  }
  if (what != 1) {
    Q(cudaEventRecord(j, b));
    Q(cudaStreamWaitEvent(a, j, 0));
  }
  if (what == 2) {
    S(cudaStreamDestroy(b));
    S(cudaEventDestroy(f));
    S(cudaEventDestroy(j));
  }
  if (what == 3) {
    one<<<1, 1, 0, b>>>(d);
    S(cudaStreamDestroy(b));
  }  // work behind the join
  if (what == 4) {
    S(cudaEventDestroy(f));
    S(cudaEventDestroy(j));
    cudaEvent_t n;
    S(cudaEventCreate(&n));
    S(cudaEventRecord(n, b));
    S(cudaEventDestroy(n));
  }
  if (what == 6) {
    S(cudaEventQuery(j));
  }
  if (what == 7) {
    cudaStream_t n;
    S(cudaStreamCreate(&n));
    S(cudaStreamQuery(n));
    S(cudaStreamDestroy(n));
  }
  if (what == 8) {
    S(cudaStreamQuery(b));
  }
  if (what == 9) {
    int* q;
    S(cudaMalloc(&q, 4));
    S(cudaFree(q));
  }
  if (what == 10) {
    S(cudaStreamDestroy(b));
    S(cudaStreamIsCapturing(a, &c));
    printf("  status %d\n", c);
    one<<<1, 1, 0, a>>>(d);
    S(cudaGetLastError());
  }
  if (what == 11) {
    S(cudaEventElapsedTime((float*)&id, f, j));
  }
  if (what == 12) {
    void* p;
    S(cudaHostAlloc(&p, 64, 0));
    S(cudaFreeHost(p));
  }
  S(cudaStreamEndCapture(a, &g));
  printf("  graph %s\n", g ? "made" : "null");
  if (g) {
    Q(cudaGraphInstantiate(&x, g, 0));
    Q(cudaGraphLaunch(x, a));
    Q(cudaStreamSynchronize(a));
  }
  Q(cudaDeviceSynchronize());
  int h = -1;
  Q(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  printf("  value %d\n", h);
  (void)cudaGetLastError();
}
int main() {
  setvbuf(stdout, 0, _IOLBF, 0);
  Q(cudaMalloc(&d, 4));
  const char* names[] = {"plain",
                         "destroy b unjoined",
                         "destroy b and events",
                         "work behind the join, destroy b",
                         "destroy events, new event",
                         "destroy origin",
                         "query event",
                         "create, query, destroy another stream",
                         "query b",
                         "cudaMalloc",
                         "destroy b, go on",
                         "elapsed",
                         "cudaHostAlloc"};
  for (int i = 0; i < 13; i++)
    for (int m = 0; m < 3; m += 2) run(names[i], m, i);
}
