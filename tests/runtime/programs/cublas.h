// SPDX-License-Identifier: MIT
// The functions of cuBLAS that blas.cpp and blas_parts.cpp call. Its header is not part of our
// toolkit, so they are declared by how they are called. cublas.cpp makes a library of the same
// names, which does nothing: we answer, or NVIDIA's library where a program is linked with that.
#pragma once

// clang-format off
#define CUBLAS_OF_ALL_TYPES(FUNCTION, NAME) \
  FUNCTION(cublasS##NAME) FUNCTION(cublasD##NAME) FUNCTION(cublasC##NAME) \
  FUNCTION(cublasZ##NAME)
#define CUBLAS_FUNCTIONS(FUNCTION) \
  FUNCTION(cublasCreate_v2) FUNCTION(cublasDestroy_v2) FUNCTION(cublasSetStream_v2) \
  FUNCTION(cublasGetStream_v2) FUNCTION(cublasSetPointerMode_v2) \
  FUNCTION(cublasGetPointerMode_v2) FUNCTION(cublasGetVersion_v2) FUNCTION(cublasSetMatrix) \
  FUNCTION(cublasGetMatrix) FUNCTION(cublasSetVector) FUNCTION(cublasGetVector) \
  FUNCTION(cublasIsamax_v2) FUNCTION(cublasIsamax_v2_64) FUNCTION(cublasIzamin_v2) \
  FUNCTION(cublasSdot_v2) FUNCTION(cublasSdot_v2_64) FUNCTION(cublasDdot_v2) \
  FUNCTION(cublasCdotc_v2) FUNCTION(cublasZdotu_v2) FUNCTION(cublasSnrm2_v2) \
  FUNCTION(cublasDznrm2_v2) FUNCTION(cublasScasum_v2) FUNCTION(cublasDasum_v2) \
  FUNCTION(cublasDrot_v2) FUNCTION(cublasZdscal_v2) FUNCTION(cublasGemmEx) FUNCTION(cublasHgemm) \
  FUNCTION(cublasSger_v2) FUNCTION(cublasZgerc_v2) FUNCTION(cublasDspmv_v2) \
  FUNCTION(cublasZhemv_v2) FUNCTION(cublasDtbsv_v2) FUNCTION(cublasCherk_v2) \
  FUNCTION(cublasZher2k_v2) FUNCTION(cublasSgelsBatched) CUBLAS_OF_ALL_TYPES(FUNCTION, axpy_v2) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, scal_v2) CUBLAS_OF_ALL_TYPES(FUNCTION, copy_v2) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, swap_v2) CUBLAS_OF_ALL_TYPES(FUNCTION, gemv_v2) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, gemm_v2) CUBLAS_OF_ALL_TYPES(FUNCTION, gemmBatched) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, gemmStridedBatched) CUBLAS_OF_ALL_TYPES(FUNCTION, symm_v2) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, syrk_v2) CUBLAS_OF_ALL_TYPES(FUNCTION, trmm_v2) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, trsm_v2) CUBLAS_OF_ALL_TYPES(FUNCTION, geam) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, dgmm) CUBLAS_OF_ALL_TYPES(FUNCTION, getrfBatched) \
  CUBLAS_OF_ALL_TYPES(FUNCTION, getrsBatched)
// clang-format on
