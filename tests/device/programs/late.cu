// SPDX-License-Identifier: MIT
// Loads the driver only when it is needed, and a module from text, as Python programs do;
// cooperative and extended launches.
#include <cuda.h>
#include <dlfcn.h>
#include <cstdio>
static const char* ptx =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry late_store(.param .u64 p) {\n"
    " .reg .u64 %rd<5>; .reg .u32 %r<3>;\n"
    " ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;\n"
    " mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3;\n"
    " st.global.u32 [%rd4], %r1; ret;\n}\n";
template <class F>
static F symbol(void* library, const char* name, F) {
  return reinterpret_cast<F>(dlsym(library, name));
}
int main() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return 9;
  const auto init = symbol(library, "cuInit", &cuInit);
  const auto retain = symbol(library, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain);
  const auto set = symbol(library, "cuCtxSetCurrent", &cuCtxSetCurrent);
  const auto load = symbol(library, "cuModuleLoadData", &cuModuleLoadData);
  const auto find = symbol(library, "cuModuleGetFunction", &cuModuleGetFunction);
  const auto allocate = symbol(library, "cuMemAlloc_v2", &cuMemAlloc_v2);
  const auto launch = symbol(library, "cuLaunchKernel", &cuLaunchKernel);
  const auto launch_ex = symbol(library, "cuLaunchKernelEx", &cuLaunchKernelEx);
  const auto cooperative = symbol(library, "cuLaunchCooperativeKernel", &cuLaunchCooperativeKernel);
  const auto synchronize =
      symbol(library, "cuCtxSynchronize", static_cast<CUresult (*)()>(nullptr));
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  if (init(0) || retain(&context, 0) || set(context) || load(&module, ptx) ||
      find(&function, module, "late_store") || allocate(&data, 4096)) {
    return 8;
  }
  void* arguments[] = {&data};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 96;
  config.blockDimY = config.blockDimZ = 1;
  const bool ok = !launch(function, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) &&
                  !launch_ex(&config, function, arguments, nullptr) &&
                  !cooperative(function, 4, 1, 1, 128, 1, 1, 0, nullptr, arguments) &&
                  !synchronize();
  return ok ? 0 : 7;
}
