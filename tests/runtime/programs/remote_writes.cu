// SPDX-License-Identifier: MIT
// Waits for what other devices wrote into this one's memory, in both APIs.
#include <cuda.h>

#include "runtime_program.h"

int main() {
  int options = 0;
  R(cudaDeviceGetAttribute(&options, cudaDevAttrGPUDirectRDMAFlushWritesOptions, 0));
  I(options & cudaFlushGPUDirectRDMAWritesOptionHost);
  const auto target = cudaFlushGPUDirectRDMAWritesTargetCurrentDevice;
  R(cudaDeviceFlushGPUDirectRDMAWrites(target, cudaFlushGPUDirectRDMAWritesToOwner));
  R(cudaDeviceFlushGPUDirectRDMAWrites(target, cudaFlushGPUDirectRDMAWritesToAllDevices));
  I(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                               CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  I(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                               static_cast<CUflushGPUDirectRDMAWritesScope>(0)));
}
