// The variable that a line of source allocates memory for.
#include "collector/runtime/allocated_variable.h"

#include <gtest/gtest.h>

namespace warpmeter::runtime {
namespace {

TEST(AllocatedVariable, IsTheFirstArgumentWithoutItsCast) {
  for (const auto& [source, name] : {
           std::pair{"cudaMalloc(&d_a, n * sizeof(float));", "d_a"},
           std::pair{"  checkCuda(cudaMalloc((void**)&d_a, n));", "d_a"},
           std::pair{"cudaMalloc(reinterpret_cast<void**>(&d_a), n);", "d_a"},
           std::pair{"CHECK(cudaMalloc(&x.y, n));", "x.y"},
           std::pair{"cudaMalloc(&state->rows[i], n);", "state->rows[i]"},
           std::pair{"cudaMalloc<float>(&d_a, n);", "d_a"},
           std::pair{"cudaMallocManaged(&m, n); cudaDeviceSynchronize();", "m"},
           std::pair{"cudaHostAlloc((void **)&pinned,\n              n, 0);", "pinned"},
           std::pair{"float* p; cudaMallocPitch(&p, &pitch, w, h);", "p"},
           std::pair{"cuMemAlloc(&device, bytes);", "device"},
           std::pair{"cudaMalloc(pointer, n);", "pointer"},
           std::pair{"cuMemCreate(&chunks[i], bytes, &properties, 0);", "chunks[i]"},
           std::pair{"cuMemAddressReserve(&range, bytes, 0, 0, 0);", "range"},
       }) {
    EXPECT_EQ(allocated_variable(source), name) << source;
  }
}

TEST(AllocatedVariable, IsUnknownWhereItIsNoneOrSeveral) {
  for (const char* source : {"", "allocate(&d_a, n);", "cudaMalloc(&a, n); cudaMalloc(&b, n);",
                             "cudaMalloc(take(&d_a), n);", "cudaMalloc(", "cudaMalloc(&d_a"}) {
    EXPECT_EQ(allocated_variable(source), "") << source;
  }
}

}  // namespace
}  // namespace warpmeter::runtime
