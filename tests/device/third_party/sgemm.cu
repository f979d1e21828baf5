// Kernels of https://github.com/siboehm/SGEMM_CUDA at 60cba6f, which own_kernels.sh finds in
// build/third_party.
#include "src/kernels/1_naive.cuh"
#include "src/kernels/2_kernel_global_mem_coalesce.cuh"
#include "src/kernels/3_kernel_shared_mem_blocking.cuh"
#include "src/kernels/4_kernel_1D_blocktiling.cuh"
#include "src/kernels/5_kernel_2D_blocktiling.cuh"
#include "src/kernels/6_kernel_vectorize.cuh"
#include "src/kernels/7_kernel_resolve_bank_conflicts.cuh"
#include "src/kernels/8_kernel_bank_extra_col.cuh"
