// SPDX-License-Identifier: MIT
// The driver's linker: PTX that NVRTC compiles apart, and files that nvcc made, linked by the names
// that they give each other; and what is wrong. Arguments: a fat binary, an object and an archive
// of linked_part.cu; or "cubin" and its machine code.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 28;

constexpr const char* kernel_source = R"(
extern "C" __device__ int calls;
extern "C" __device__ int thrice(int x);
static __device__ int own(int x) { return x + 1; }
extern "C" __global__ void fill(int* out) { out[threadIdx.x] = own(thrice(threadIdx.x)) + calls * 0; }
)";
constexpr const char* calls_source = R"(
static __device__ int own(int x) { return x - 1; }
extern "C" { __device__ int calls = 100; }
extern "C" __global__ void reset(int to) { calls = own(to); }
)";
constexpr const char* thrice_source = R"(
extern "C" __device__ int calls;
extern "C" __device__ int thrice(int x) {
  atomicAdd(&calls, 1);
  return 3 * x;
}
)";

/// Options that let the linker write, as most programs give them.
struct Logs {
  char info[1024], error[1024];
  std::vector<CUjit_option> options = {CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER,
                                       CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                                       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[5];

  Logs() {
    std::memset(info, '?', sizeof info);
    std::memset(error, '?', sizeof error);
    void* const size = reinterpret_cast<void*>(std::uintptr_t{sizeof info});
    void* const all[] = {nullptr, info, size, error, size};
    std::memcpy(values, all, sizeof values);
  }
  CUlinkState begin() {
    CUlinkState state = nullptr;
    SAY(cuLinkCreate(5, options.data(), values, &state));
    return state;
  }
  float milliseconds() const {
    float time = 0;
    std::memcpy(&time, values, sizeof time);
    return time;
  }
};

CUresult add(CUlinkState state, std::string ptx, const char* name) {
  return cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), name, 0, nullptr, nullptr);
}

/// Runs what was linked.
void run(CUlinkState state) {
  void* cubin = nullptr;
  std::size_t size = 0;
  SAY(cuLinkComplete(state, &cubin, &size));
  CUmodule module = nullptr;
  CUfunction fill = nullptr, reset = nullptr;
  SAY(cuModuleLoadData(&module, cubin));
  SAY(cuLinkDestroy(state));
  SAY(cuModuleGetFunction(&fill, module, "fill"));
  SAY(cuModuleGetFunction(&reset, module, "reset"));
  CUdeviceptr out = 0, calls = 0;
  std::size_t bytes = 0;
  SAY(cuModuleGetGlobal(&calls, &bytes, module, "calls"));
  cuMemAlloc(&out, 32 * 4);
  int to = 51, numbers[32] = {}, count = 0;
  void* all[] = {&to};
  void* arguments[] = {&out};
  cuMemcpyDtoH(&count, calls, 4);
  std::printf("%zu %d", size > 0 ? bytes : 0, count);
  cuLaunchKernel(reset, 1, 1, 1, 1, 1, 1, 0, nullptr, all, nullptr);
  cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemcpyDtoH(numbers, out, sizeof numbers);
  cuMemcpyDtoH(&count, calls, 4);
  std::printf(" %d: %d %d %d\n", count, numbers[0], numbers[1], numbers[31]);
  cuMemFree(out);
  SAY(cuModuleUnload(module));
}

}  // namespace

int main(int argument_count, char** arguments) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  if (argument_count == 3) {
    CUlinkState state = nullptr;
    cuLinkCreate(0, nullptr, nullptr, &state);
    SAY(cuLinkAddFile(state, CU_JIT_INPUT_CUBIN, arguments[2], 0, nullptr, nullptr));
    return 0;
  }
  const std::string kernel = compiled(kernel_source, "part.cu", "--relocatable-device-code=true"),
                    calls = compiled(calls_source, "part.cu", "--relocatable-device-code=true");
  const std::string thrice = compiled(thrice_source, "part.cu", "--relocatable-device-code=true");

  {
    Logs logs;
    CUlinkState state = logs.begin();
    SAY(add(state, kernel, "kernel"));
    SAY(add(state, calls, "calls"));
    SAY(add(state, thrice, nullptr));
    run(state);
    std::printf("took some time: %d\n", logs.milliseconds() > 0);
  }

  // From files.
  const CUjitInputType types[] = {CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT,
                                  CU_JIT_INPUT_LIBRARY};
  for (int i = 0; i < 3 && i + 1 < argument_count; ++i) {
    CUlinkState state = nullptr;
    SAY(cuLinkCreate(0, nullptr, nullptr, &state));
    SAY(add(state, kernel, "kernel"));
    SAY(add(state, calls, "calls"));
    const char* path = arguments[i + 1];
    SAY(cuLinkAddFile(state, types[i], path, 0, nullptr, nullptr));
    run(state);
  }

  // These calls are wrong.
  Logs logs;
  CUlinkState state = logs.begin();
  SAY(add(state, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f( { ret; }",
          "wrong"));
  std::printf("said something: %d\n", logs.error[0] != '\0' && logs.error[0] != '?');
  SAY(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "no such file", 0, nullptr, nullptr));
  SAY(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, 0, nullptr, nullptr));
  SAY(cuLinkDestroy(state));

  Logs missing;
  state = missing.begin();
  SAY(add(state, kernel, "kernel"));
  SAY(add(state, calls, "calls"));
  void* cubin = nullptr;
  const CUresult result = cuLinkComplete(state, &cubin, nullptr);
  std::printf("links: %d, says what is missing: %d\n", result == CUDA_SUCCESS,
              std::strstr(missing.error, "thrice") != nullptr);
  SAY(cuLinkDestroy(state));

  // The same options of loading.
  Logs loading;
  CUmodule module = nullptr;
  SAY(cuModuleLoadDataEx(&module, "not PTX", 5, loading.options.data(), loading.values));
  std::printf("said something: %d\n", loading.error[0] != '\0' && loading.error[0] != '?');
}
