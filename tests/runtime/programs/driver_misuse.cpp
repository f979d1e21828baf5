// SPDX-License-Identifier: MIT
// Modules, functions, launches and mapped memory by the driver's API, the wrong ways too.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 34;

/// The call as the headers name it, which may be another version of it, in front.
#define TEXT(call) #call
#define S(call) std::printf("%s = %s\n", TEXT(call), name_of(call))

constexpr const char* ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 gv[5] = {1,2,3,4,5};\n.visible .const .align 4 .u32 cv = 9;\n"
    ".visible .entry k(.param .u64 p, .param .u32 n) {\n.reg .u64 %rd<4>;\n.reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1,[p];\nld.param.u32 %r1,[n];\nst.global.u32 [%rd1],%r1;\nret;\n}\n";

void modules() {
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  S(cuModuleLoadData(nullptr, ptx));
  S(cuModuleLoadData(&m, nullptr));
  S(cuModuleLoadData(&m, "garbage"));
  S(cuModuleLoadData(&m, ""));
  S(cuModuleLoadData(&m, ".version 99.0\n.target sm_90\n.address_size 64\n"));
  // clang-format off
  S(cuModuleLoadData(&m, ".version 8.0\n.target sm_120\n.address_size 64\n.visible .entry k(){ret;}\n"));
  S(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(){ bogus.u32 1; }\n"));
  // clang-format on
  S(cuModuleLoad(&m, "/nonexistent.ptx"));
  S(cuModuleLoad(&m, nullptr));
  cuModuleLoadData(&m, ptx);
  S(cuModuleGetFunction(&f, m, "nope"));
  S(cuModuleGetFunction(&f, m, nullptr));
  S(cuModuleGetFunction(nullptr, m, "k"));
  S(cuModuleGetFunction(&f, nullptr, "k"));
  S(cuModuleGetFunction(&f, m, ""));
  CUdeviceptr g = 0;
  std::size_t n = 0;
  S(cuModuleGetGlobal(&g, nullptr, m, "gv"));
  S(cuModuleGetGlobal(nullptr, nullptr, m, "cv"));
  S(cuModuleGetGlobal(&g, &n, m, "zz"));
  S(cuModuleGetGlobal(&g, &n, m, nullptr));
  S(cuModuleGetGlobal(&g, &n, m, "k"));
  cuModuleGetFunction(&f, m, "k");
  S(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 3));
  S(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
  S(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  S(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
  S(cuFuncSetCacheConfig(f, (CUfunc_cache)8));
}

void memory() {
  void* h = nullptr;
  CUdeviceptr hd = 0, p = 0;
  S(cuMemHostAlloc(nullptr, 4, 0));
  S(cuMemHostAlloc(&h, 0, 0));
  S(cuMemHostAlloc(&h, 4, 0x80));
  S(cuMemAllocHost(&h, 64));
  S(cuMemFreeHost(nullptr));
  S(cuMemHostGetDevicePointer(&hd, h, 0));
  S(cuMemHostGetDevicePointer(&hd, h, 2));
  S(cuMemFree((CUdeviceptr)h));
  cuMemAlloc(&p, 4096);
  S(cuMemsetD8(p, 1, 4097));
  S(cuMemsetD16(p + 1, 1, 4));
  S(cuMemsetD32(p + 2, 1, 4));
  S(cuMemsetD32(p, 1, 1024));
  S(cuMemsetD32(p, 1, 1025));
  S(cuMemsetD2D32(p, 16, 7, 4, 4));
  S(cuMemsetD2D32(p, 15, 7, 3, 4));
  S(cuMemsetD2D8(p, 4, 7, 5, 4));
  S(cuMemsetD8(0, 1, 1));
  S(cuMemsetD8(0, 1, 0));
}

constexpr const char* source = R"(
extern "C" __global__ void k12(int* data, int v) { data[threadIdx.x] = v; }
extern "C" __global__ void k20(int* data, int* b, int v) { data[threadIdx.x] = v; }
extern "C" __global__ void k0() { }
)";

/// Arguments in one stretch of as many bytes.
void launches(CUmodule module) {
  CUfunction k12 = nullptr, k20 = nullptr, k0 = nullptr;
  CUdeviceptr data = 0;
  cuModuleGetFunction(&k12, module, "k12");
  cuModuleGetFunction(&k20, module, "k20");
  cuModuleGetFunction(&k0, module, "k0");
  cuMemAlloc(&data, 4096);
  char buffer[4096] = {};
  std::memcpy(buffer, &data, sizeof data);
  for (std::size_t size : {0, 8, 11, 12, 13, 15, 16, 20, 24, 32, 4096}) {
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    const auto launched = [&](CUfunction kernel) {
      return name_of(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
    };
    std::printf("k12 size %zu: %s", size, launched(k12));
    std::printf(", k20: %s", launched(k20));
    std::printf(", k0: %s\n", launched(k0));
  }
  cuCtxSynchronize();
}

/// The results of a module, a library and the linker for a text. A library says it only when
/// something of it is asked for.
void load(const char* name, const std::string& text) {
  char log[400] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const auto written = [&] { return reinterpret_cast<std::size_t>(values[1]); };
  CUmodule module = nullptr;
  std::printf("text %-22s %s", name,
              name_of(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values)));
  std::printf(" (%zu, %zu) [%s]", written(), std::strlen(log), log);
  std::memset(log, 0, sizeof log);
  values[1] = reinterpret_cast<void*>(sizeof log);
  CUlibrary library = nullptr;
  std::printf(", library %s", name_of(cuLibraryLoadData(&library, text.c_str(), options, values, 2,
                                                        nullptr, nullptr, 0)));
  unsigned count = 77;
  CUkernel kernel = nullptr;
  std::printf(" count %s", name_of(cuLibraryGetKernelCount(&count, library)));
  std::printf(" %u", count);
  std::printf(" kernel %s", name_of(cuLibraryGetKernel(&kernel, library, "k")));
  std::printf(" module %s", name_of(cuLibraryGetModule(&module, library)));
  std::printf(" unload %s", name_of(cuLibraryUnload(library)));
  std::printf(" (%zu, %zu)", written(), std::strlen(log));
  CUlinkState link = nullptr;
  cuLinkCreate(0, nullptr, nullptr, &link);
  const CUresult added = cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()),
                                       text.size() + 1, "a", 0, nullptr, nullptr);
  std::printf(", link %s", name_of(added));
  void* made = nullptr;
  std::size_t bytes = 0;
  if (added == CUDA_SUCCESS) {
    std::printf(" complete %s", name_of(cuLinkComplete(link, &made, &bytes)));
  }
  cuLinkDestroy(link);
  std::printf("\n");
}

void texts(const std::string& whole) {
  load("empty", "");
  load("newline", "\n");
  load("not PTX", "not PTX");
  load("hello world 8.0", "hello .version 8.0\n");
  load(".version 8.0 .target", ".version 8.0\n.target sm_90\n.address_size 64\n");
  load(".versio", ".versio 8.0\n");
  load("target first", ".target sm_90\n.version 8.0\n");
  load("blank before", "\n\n   " + whole);
  load("comment //", "// a comment\n" + whole);
  load("comment /* */", "/* a */" + whole);
  load("garbage before", "garbage\n" + whole);
  load("digits", "12345678");
  load("comment only", "// .version 8.0\n");
  load("ELF", "\177ELF" + std::string(100, '\0'));
  load("high bytes", "\xff\xfe\xfd\xfc" + std::string(100, '\0'));
}

/// Ranges with holes, and parts of mappings.
void ranges() {
  constexpr std::size_t chunk = 2 << 20;
  CUmemAllocationProp props{};
  props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccessDesc both{props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle one = 0, two = 0, third = 0;
  cuMemAddressReserve(&base, 16 * chunk, 0, 0, 0);
  cuMemCreate(&one, chunk, &props, 0);
  cuMemCreate(&two, 2 * chunk, &props, 0);
  cuMemCreate(&third, chunk, &props, 0);
  SAY(cuMemMap(base, chunk, 0, two, 0));
  SAY(cuMemMap(base, 4 * chunk, 0, two, 0));
  SAY(cuMemMap(base, chunk, chunk, two, 0));
  SAY(cuMemMap(base, 100, 0, one, 0));
  SAY(cuMemMap(base + 4096, chunk, 0, one, 0));
  SAY(cuMemMap(base, chunk, 0, one, 0));
  SAY(cuMemMap(base, chunk, 0, third, 0));
  SAY(cuMemMap(base, 2 * chunk, 0, two, 0));
  SAY(cuMemMap(base + 100 * chunk, chunk, 0, one, 0));
  SAY(cuMemMap(base + 2 * chunk, 2 * chunk, 0, two, 0));
  SAY(cuMemUnmap(base + chunk, chunk));
  SAY(cuMemUnmap(base + 2 * chunk, chunk));
  SAY(cuMemUnmap(base + 3 * chunk, chunk));
  SAY(cuMemUnmap(base + 2 * chunk, 2 * chunk));
  SAY(cuMemMap(base + 2 * chunk, 2 * chunk, 0, two, 0));
  SAY(cuMemSetAccess(base, 4 * chunk, &both, 1));
  SAY(cuMemSetAccess(base, chunk, &both, 1));
  SAY(cuMemSetAccess(base + 2 * chunk, chunk, &both, 1));
  SAY(cuMemSetAccess(base + 2 * chunk, 2 * chunk, &both, 1));
  int word = 0;
  SAY(cuMemcpyDtoH(&word, base, 4));
  SAY(cuMemUnmap(base, 4 * chunk));
  SAY(cuMemcpyDtoH(&word, base, 4));
  SAY(cuMemcpyDtoH(&word, base + 2 * chunk, 4));
  SAY(cuMemMap(base, chunk, 0, one, 0));
  SAY(cuMemMap(base + 2 * chunk, 2 * chunk, 0, two, 0));
  SAY(cuMemUnmap(base, 0));
  SAY(cuMemUnmap(base, 100));
  SAY(cuMemUnmap(base - 100 * chunk, chunk));
  SAY(cuMemAddressFree(base, 16 * chunk));
  SAY(cuMemAddressFree(base, chunk));
  SAY(cuMemAddressFree(base + chunk, chunk));
  SAY(cuMemRelease(one));
  SAY(cuMemRelease(one));
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  modules();
  memory();
  const std::string whole = compiled(source, "k.cu");
  cuModuleLoadData(&module, whole.c_str());
  launches(module);
  texts(whole);
  void* f = nullptr;
  cuLibraryLoadData(&library, whole.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  SAY(cuLibraryGetUnifiedFunction(&f, library, "nothing"));
  SAY(cuLibraryGetUnifiedFunction(&f, library, "k12"));
  ranges();
}
