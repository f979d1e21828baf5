// SPDX-License-Identifier: MIT
// The parts that programs of the driver's API share: calls that are printed with what they return,
// and kernels that NVRTC compiles.
#pragma once
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>

inline const char* name_of(CUresult result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return name != nullptr ? name : "?";
}

/// `name_width`, which each program sets, is how much room the names of results have.
#define SAY(call) std::printf("%-*s %s\n", name_width, name_of(call), #call)

/// PTX. `option`: beside that which says the architecture.
inline std::string compiled(const char* source, const char* file,
                            const char* option = "-lineinfo") {
  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, source, file, 0, nullptr, nullptr);
  const char* options[] = {"--gpu-architecture=compute_90", option};
  nvrtcCompileProgram(program, 2, options);
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, '\0');
  nvrtcGetPTX(program, ptx.data());
  nvrtcDestroyProgram(&program);
  return ptx;
}
