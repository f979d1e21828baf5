// SPDX-License-Identifier: MIT
// CUPTI opens libnvperf_host.so with RTLD_DEEPBIND, which the address sanitizer refuses by ending
// the process. The test's own dlopen takes that flag away; the planner's answers are the same
// without it.
#include <dlfcn.h>

extern "C" void* dlopen(const char* file, int mode) {
  using Dlopen = void* (*)(const char*, int);
  static const auto next = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, mode & ~RTLD_DEEPBIND);
}
