// SPDX-License-Identifier: MIT
// The parts that programs of the runtime's API share to look at what each call returns: the
// printed call itself stands in front.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>

/// A call, and what cudaGetLastError() says behind it.
#define R(call)                                                                                  \
  do {                                                                                           \
    const cudaError_t result = (call), last = cudaGetLastError();                                \
    std::printf("%s = %s | last %s\n", #call, cudaGetErrorName(result), cudaGetErrorName(last)); \
  } while (0)
/// A call alone.
#define K(call) std::printf("%s = %s\n", #call, cudaGetErrorName(call))
/// A number.
#define I(number) std::printf("%s = %lld\n", #number, static_cast<long long>(number))
