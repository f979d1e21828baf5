// Mistakes with streams and events, and what streams and a device say of themselves.
#include <cstdio>
#include <cstring>

#define ASK(call)                                                       \
  do {                                                                  \
    const cudaError_t result = (call);                                  \
    std::printf("%s = %s | last %s\n", #call, cudaGetErrorName(result), \
                cudaGetErrorName(cudaGetLastError()));                  \
  } while (0)
#define SAY(call) std::printf("%s = %s\n", #call, cudaGetErrorName(call))
#define SHOW(number) std::printf("%s = %lld\n", #number, static_cast<long long>(number))

static void streams() {
  cudaStream_t s;
  int pr = 9;
  unsigned fl = 9;
  for (const int p : {-100, -5, 0, 1, 100}) {
    ASK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, p));
    ASK(cudaStreamGetPriority(s, &pr));
    SHOW(pr);
    ASK(cudaStreamGetFlags(s, &fl));
    SHOW(fl);
    ASK(cudaStreamDestroy(s));
  }
  ASK(cudaStreamCreate(&s));
  ASK(cudaStreamAddCallback(s, nullptr, nullptr, 0));
  // clang-format off
  ASK(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
  // clang-format on
  ASK(cudaLaunchHostFunc(s, nullptr, nullptr));
  void* m;
  ASK(cudaStreamAttachMemAsync(s, nullptr));
  ASK(cudaMalloc(&m, 16));
  ASK(cudaStreamAttachMemAsync(s, m));
  cudaStreamAttrValue av;
  std::memset(&av, 0, sizeof av);
  ASK(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
  SHOW(av.syncPolicy);
  av.syncPolicy = cudaSyncPolicyYield;
  ASK(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
  ASK(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
  SHOW(av.syncPolicy);
}

static void device() {
  unsigned df = 0;
  ASK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  ASK(cudaGetDeviceFlags(&df));
  SHOW(df);
  ASK(cudaSetDeviceFlags(3));
  ASK(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceMapHost));
  ASK(cudaGetDeviceFlags(&df));
  SHOW(df);
  ASK(cudaDeviceEnablePeerAccess(0, 0));
  ASK(cudaDeviceEnablePeerAccess(64, 0));
}

static void nothing_given() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  void* d;
  cudaMalloc(&d, 256);
  char h[256];
  ASK(cudaStreamEndCapture(s, nullptr));
  ASK(cudaFreeAsync(nullptr, s));
  ASK(cudaMemcpy2DToArray(nullptr, 0, 0, h, 4, 4, 4, cudaMemcpyHostToDevice));
  ASK(cudaMemcpy2DFromArray(h, 4, nullptr, 0, 0, 4, 4, cudaMemcpyDeviceToHost));
  ASK(cudaHostRegister(d, 16, 0));
  ASK(cudaStreamGetFlags(0, nullptr));
  ASK(cudaStreamGetPriority(s, nullptr));
  ASK(cudaStreamGetId(s, nullptr));
  ASK(cudaDeviceGetCacheConfig(nullptr));
}

/// Another stream is not to be waited for either, unless the capture is relaxed.
static void captures() {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  for (int m = 0; m < 3; ++m) {
    const char* names[] = {"global", "threadlocal", "relaxed"};
    std::printf("== mode %s\n", names[m]);
    SAY(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)m));
    SAY(cudaStreamSynchronize(t));
    cudaStreamCaptureStatus st;
    SAY(cudaStreamIsCapturing(s, &st));
    SHOW(st);
    cudaGraph_t g;
    const cudaError_t ended = cudaStreamEndCapture(s, &g);
    std::printf("end %s graph %s\n", cudaGetErrorName(ended), g == nullptr ? "null" : "set");
    cudaGetLastError();
  }
  cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
  SAY(cudaThreadExchangeStreamCaptureMode(&m));
  SHOW(m);
  SAY(cudaThreadExchangeStreamCaptureMode(&m));
  SHOW(m);
  m = (cudaStreamCaptureMode)8;
  SAY(cudaThreadExchangeStreamCaptureMode(&m));
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  streams();
  device();
  nothing_given();
  captures();
}
