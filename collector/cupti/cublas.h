// SPDX-License-Identifier: MIT
// cuBLAS as a family's ceiling: what NVIDIA's own library makes of the same problem. It is loaded
// at run time from where CUPTI is looked for, too, and need not be there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/cupti/context.h"

namespace warpmeter::cupti {

/// The few functions that we call. The declarations follow NVIDIA's "cuBLAS Library" guide
/// (sections cuBLAS Helper Function Reference and cublas<t>gemm); 0 is success, and matrices lie
/// column by column.
struct CublasApi {
  int (*cublasCreate_v2)(void** handle) = nullptr;
  int (*cublasDestroy_v2)(void* handle) = nullptr;
  int (*cublasSetStream_v2)(void* handle, CUstream stream) = nullptr;
  const char* (*cublasGetStatusString)(int status) = nullptr;
  int (*cublasSgemm_v2)(void* handle, int turn_a, int turn_b, int m, int n, int k,
                        const float* alpha, const float* a, int step_a, const float* b, int step_b,
                        const float* beta, float* c, int step_c) = nullptr;
};

/// Loads version 13 or 12 from the first of the directories that has it, else as the loader finds
/// it.
Loaded<CublasApi> load_cublas(const std::vector<std::filesystem::path>& directories,
                              bool search_loader_path = true);

/// The library, loaded once a process, when first asked for.
const Loaded<CublasApi>& cublas_library();

/// The library on one context.
class Cublas {
 public:
  /// Throws Error{kernel} when it does not start there. The library has to be ok().
  Cublas(const CublasApi& api, const Context& context);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Enqueues c = a × b in 32-bit floats (no TF32) for the arguments of the family matmul: pointers
  /// to c, a, b, and to m, k, n, of row-major matrices. Empty, or why it failed.
  std::string multiply(void** arguments) const;

 private:
  const CublasApi& api_;
  void* handle_ = nullptr;
};

}  // namespace warpmeter::cupti
