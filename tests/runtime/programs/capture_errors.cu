// SPDX-License-Identifier: MIT
// The calls that a capture forbids, and the errors that say so. The numbers are those of the
// documentation of cudaError_t.
#include <cstdio>
__global__ void nothing() {}

static void say(const char* what, cudaError_t error) {
  std::printf("%s: %d %s\n", what, error, cudaGetErrorName(error));
  cudaGetLastError();
}

int main() {
  cudaStream_t a, b, apart;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEvent_t event, plain;
  cudaEventCreate(&event);
  cudaEventCreate(&plain);
  cudaEventRecord(plain, a);
  cudaGraph_t graph;
  int* memory;
  cudaMalloc(&memory, 4);
  int host = 0;

  say("legacy stream", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
  say("end without begin", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  say("begin twice", cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  say("synchronize", cudaStreamSynchronize(a));
  nothing<<<1, 1, 0, a>>>();
  say("launch after it", cudaGetLastError());
  say("end", cudaStreamEndCapture(a, &graph));
  std::printf("no graph: %d\n", graph == nullptr);

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  say("device synchronize", cudaDeviceSynchronize());
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  nothing<<<1, 1>>>();
  say("launch in the legacy stream", cudaGetLastError());
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  say("copy and wait", cudaMemcpy(&host, memory, 4, cudaMemcpyDeviceToHost));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(apart, cudaStreamCaptureModeGlobal);
  nothing<<<1, 1>>>();
  say("launch beside a non-blocking stream", cudaGetLastError());
  say("end", cudaStreamEndCapture(apart, &graph));
  cudaGraphDestroy(graph);

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  int* more;
  say("allocate", cudaMalloc(&more, 4));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
  say("allocate, relaxed", cudaMalloc(&more, 4));
  say("end", cudaStreamEndCapture(a, &graph));
  cudaGraphDestroy(graph);

  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  std::printf("was mode %d\n", mode);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  say("allocate in a relaxed thread", cudaMalloc(&more, 4));
  say("end", cudaStreamEndCapture(a, &graph));
  cudaGraphDestroy(graph);
  cudaThreadExchangeStreamCaptureMode(&mode);

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  nothing<<<1, 1, 0, a>>>();
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  nothing<<<1, 1, 0, b>>>();
  say("end of the other stream", cudaStreamEndCapture(b, &graph));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  nothing<<<1, 1, 0, a>>>();
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  nothing<<<1, 1, 0, b>>>();
  say("end unjoined", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal);
  cudaEventRecord(event, a);
  say("merge", cudaStreamWaitEvent(b, event, 0));
  say("end", cudaStreamEndCapture(b, &graph));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  say("wait for what is not captured", cudaStreamWaitEvent(a, plain, 0));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(event, a);
  say("ask a captured event", cudaEventQuery(event));
  say("end", cudaStreamEndCapture(a, &graph));

  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaStreamCaptureStatus status;
  say("is the legacy stream captured", cudaStreamIsCapturing(0, &status));
  say("end", cudaStreamEndCapture(a, &graph));
  cudaGraphDestroy(graph);
  say("at last", cudaDeviceSynchronize());
}
