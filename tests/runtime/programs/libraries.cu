// SPDX-License-Identifier: MIT
// Code that a program loads as it runs, by the runtime's API: from memory and from a file, its
// kernels, its variables, and what is wrong.
#include <cuda.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#define SAY(call) std::printf("%-34s %s\n", cudaGetErrorName(call), #call)

namespace {

// The output of nvcc for two kernels: one adds `step` and counts its calls in `calls`, which is
// managed, the other takes zeros from dynamic shared memory.
constexpr const char* code = R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 step;
.global .attribute(.managed) .align 4 .u32 calls;
.extern .shared .align 16 .b8 s[];
.visible .entry bump(.param .u64 bump_param_0)
{
  .reg .pred %p<2>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [bump_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  ld.global.u32 %r3, [step];
  add.s32 %r4, %r2, %r3;
  st.global.u32 [%rd4], %r4;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $L__BB0_2;
  ld.global.u32 %r5, [calls];
  add.s32 %r6, %r5, 1;
  st.global.u32 [calls], %r6;
$L__BB0_2:
  ret;
}
.visible .entry clear(.param .u64 clear_param_0)
{
  .reg .b32 %r<7>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [clear_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.s32 %r4, %r3, %r2;
  mov.u32 %r5, 0;
  st.shared.u32 [%r4], %r5;
  bar.sync 0;
  ld.shared.u32 %r6, [%r4];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
  ret;
}
)";

constexpr int n = 64;

int first(const int* data) {
  int host[n];
  SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  return host[n - 1];
}

}  // namespace

int main() {
  cudaLibrary_t library = nullptr, of_file = nullptr;
  cudaKernel_t bump = nullptr, clear = nullptr, none = nullptr;
  int* data = nullptr;
  SAY(cudaMalloc(&data, n * sizeof(int)));
  SAY(cudaMemset(data, 0, n * sizeof(int)));
  SAY(cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  SAY(cudaLibraryGetKernelCount(&count, library));
  std::printf("%u kernels\n", count);
  cudaKernel_t all[4] = {};
  SAY(cudaLibraryEnumerateKernels(all, 4, library));
  std::printf("%d %d\n", all[1] != nullptr, all[2] != nullptr);
  SAY(cudaLibraryGetKernel(&bump, library, "bump"));
  SAY(cudaLibraryGetKernel(&clear, library, "clear"));
  SAY(cudaLibraryGetKernel(&none, library, "nothing"));
  const char* name = nullptr;
  SAY(cudaFuncGetName(&name, bump));
  std::printf("%s\n", name);

  std::size_t offset = 1, size = 0;
  SAY(cudaFuncGetParamInfo(bump, 0, &offset, &size));
  std::printf("%zu bytes at %zu\n", size, offset);
  SAY(cudaFuncGetParamInfo(bump, 1, &offset, &size));

  // Its variables.
  int *step = nullptr, *calls = nullptr;
  std::size_t bytes = 0;
  void* unified = nullptr;
  SAY(cudaLibraryGetGlobal(reinterpret_cast<void**>(&step), &bytes, library, "step"));
  std::printf("%zu bytes\n", bytes);
  SAY(cudaLibraryGetGlobal(nullptr, &bytes, library, "nothing"));
  SAY(cudaLibraryGetGlobal(nullptr, nullptr, library, "step"));
  SAY(cudaLibraryGetManaged(reinterpret_cast<void**>(&calls), &bytes, library, "calls"));
  std::printf("%zu bytes\n", bytes);
  SAY(cudaLibraryGetManaged(nullptr, &bytes, library, "step"));
  SAY(cudaLibraryGetUnifiedFunction(&unified, library, "nothing"));
  *calls = 40;
  const int by = 5;
  SAY(cudaMemcpy(step, &by, sizeof by, cudaMemcpyHostToDevice));

  // The launch is as other kernels are.
  void* arguments[] = {&data};
  SAY(cudaLaunchKernel(bump, dim3(1), dim3(n), arguments, 0, nullptr));
  SAY(cudaLaunchKernel(bump, dim3(1), dim3(n), arguments, 0, nullptr));
  SAY(cudaDeviceSynchronize());
  std::printf("%d, %d calls\n", first(data), *calls);
  SAY(cudaLaunchKernel(clear, dim3(1), dim3(n), arguments, 100 << 10, nullptr));
  SAY(cudaKernelSetAttributeForDevice(clear, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10,
                                      0));
  SAY(cudaKernelSetAttributeForDevice(clear, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      1000 << 10, 0));
  SAY(cudaLaunchKernel(clear, dim3(1), dim3(n), arguments, 100 << 10, nullptr));
  std::printf("%d\n", first(data));
  cudaFuncAttributes attributes{};
  SAY(cudaFuncGetAttributes(&attributes, clear));
  std::printf("%d bytes at most\n", attributes.maxDynamicSharedSizeBytes);

  // From a file; its variables are its own.
  const std::string path = "/tmp/library_" + std::to_string(getpid()) + ".ptx";
  if (std::FILE* file = std::fopen(path.c_str(), "w")) {
    std::fputs(code, file);
    std::fclose(file);
  }
  SAY(cudaLibraryLoadFromFile(&of_file, "/nowhere/library.ptx", nullptr, nullptr, 0, nullptr,
                              nullptr, 0));
  SAY(cudaLibraryLoadFromFile(&of_file, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  unlink(path.c_str());
  cudaKernel_t other = nullptr;
  int* other_calls = nullptr;
  SAY(cudaLibraryGetKernel(&other, of_file, "bump"));
  SAY(cudaLibraryGetManaged(reinterpret_cast<void**>(&other_calls), nullptr, of_file, "calls"));
  SAY(cudaLaunchKernel(other, dim3(1), dim3(n), arguments, 0, nullptr));
  SAY(cudaDeviceSynchronize());
  std::printf("%d, %d and %d calls\n", first(data), *calls, *other_calls);
  SAY(cudaLibraryUnload(of_file));
  SAY(cudaLibraryUnload(library));
  SAY(cudaFree(data));
}
