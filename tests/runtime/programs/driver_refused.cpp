// SPDX-License-Identifier: MIT
// The refusals of the driver: PTX that is none, with the words of its compiler; memory of a context
// that is gone. PTX that only the model cannot execute is loaded, and fails when it is launched.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "driver_program.h"
namespace {

constexpr int name_width = 28;

/// A module with a kernel of that body.
std::string ptx(const std::string& body) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref texture;\n"
         ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<8>; .reg .b64 %d<2>; .reg .f32 "
         "%f<8>;\n" +
         body + "\nret;\n}\n";
}

void load(const std::string& what, const std::string& body) {
  char log[200];
  std::memset(log, '?', sizeof log);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{sizeof log})};
  CUmodule module = nullptr;
  const CUresult result = cuModuleLoadDataEx(&module, ptx(body).c_str(), 2, options, values);
  const auto written = reinterpret_cast<std::uintptr_t>(values[1]);
  std::printf("%-12s %s, %s\n", what.c_str(), name_of(result),
              written == std::strlen(log) ? "as long as it says" : "of another length");
  if (written > 0) std::printf("  %s\n", std::string(log, written).c_str());
  CUlibrary library = nullptr;
  CUkernel of_library = nullptr;
  cuLibraryLoadData(&library, ptx(body).c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (cuLibraryGetKernel(&of_library, library, "k") != result) {
    std::printf("a library is another thing\n");
  }
  CUlinkState link = nullptr;
  cuLinkCreate(0, nullptr, nullptr, &link);
  const std::string text = ptx(body);
  if (cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size(), "input",
                    0, nullptr, nullptr) != result) {
    std::printf("the linker says something else\n");
  }
  cuLinkDestroy(link);
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;
  void* arguments[] = {&out};
  if (result != CUDA_SUCCESS) return;
  SAY(cuModuleGetFunction(&kernel, module, "k"));
  SAY(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
}

}  // namespace

int main() {
  CUcontext primary = nullptr, own = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&primary, 0);
  cuCtxSetCurrent(primary);
  load("right", "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1;");
  load("unknown", "foo.u32 %r1;");
  load("undeclared", "mov.u32 %r1, 1; add.u32 %r9, %r1, %r1;");
  load("no variable", "mov.u64 %d1, nowhere;");
  load("guard", "@%p bra end; end:");
  load("texture", "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [texture, {%r1}];");
  load("handle", "{ .reg .pred is_one; istypep.texref is_one, %d1; }");

  CUdeviceptr lasting = 0, gone = 0, managed = 0;
  void* pinned = nullptr;
  SAY(cuMemAlloc(&lasting, 64));
  cuCtxCreate(&own, nullptr, 0, 0);
  SAY(cuMemAlloc(&gone, 64));
  SAY(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  SAY(cuMemHostAlloc(&pinned, 64, 0));
  SAY(cuCtxDestroy(own));
  cuCtxSetCurrent(primary);
  SAY(cuMemFree(gone));
  SAY(cuMemFree(managed));
  SAY(cuMemFreeHost(pinned));
  SAY(cuMemsetD8(gone, 0, 64));
  SAY(cuMemFree(lasting));
}
