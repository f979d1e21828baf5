// SPDX-License-Identifier: MIT
// The variable that a line of source allocates memory for.
#include "collector/runtime/image/allocated_variable.h"

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
    EXPECT_EQ(allocated_variables(source), std::vector<std::string>{name}) << source;
  }
}

TEST(AllocatedVariable, IsWhatALineOfPythonAssignsTo) {
  for (const auto& [line, name] : {
           std::pair{"x = torch.empty(4)", "x"},
           std::pair{"    self.rows = cupy.zeros(n)", "self.rows"},
           std::pair{"x == f(y)", ""},
           std::pair{"x, y = f(), g()", ""},
           std::pair{"a = f(); b = g()", ""},
           std::pair{"f(x=3)", ""},
           std::pair{"", ""},
       }) {
    EXPECT_EQ(assigned_variable(line), name) << line;
  }
}

TEST(AllocatedVariable, IsUnknownWhereItIsNone) {
  for (const char* source : {"", "allocate(&d_a, n);", "cudaMalloc"}) {
    EXPECT_TRUE(allocated_variables(source).empty()) << source;
  }
  for (const char* source : {"cudaMalloc(take(&d_a), n);", "cudaMalloc(", "cudaMalloc(&d_a"}) {
    EXPECT_EQ(allocated_variables(source), std::vector<std::string>{""}) << source;
  }
}

TEST(AllocatedVariable, OfSeveralCallsIsInTheirOrder) {
  const std::vector<std::string> both = {"a", "b"};
  for (const char* source :
       {"cudaMalloc(&a, n); cudaMallocHost((void**)&b, m);",
        "for (int i = 0; i < 2; ++i) { CHECK(cudaMalloc(&a, n)); CHECK(cudaMalloc(&b, n)); }",
        "if (cudaMalloc(&a, n) || cudaMalloc(&b, n)) return 1;"}) {
    EXPECT_EQ(allocated_variables(source), both) << source;
    EXPECT_TRUE(are_in_order(source)) << source;
  }
  for (const char* source : {"c ? cudaMalloc(&a, n) : cudaMalloc(&b, n);",
                             "check(cudaMalloc(&a, n), cudaMalloc(&b, n));",
                             "if (c) cudaMalloc(&a, n); else cudaMalloc(&b, n);",
                             "if (c) cudaMalloc(&a, n); cudaMalloc(&b, n);",
                             "cudaMalloc(&a, n); if (c) cudaMalloc(&b, n);",
                             "c && cudaMalloc(&a, n); cudaMalloc(&b, n);"}) {
    EXPECT_EQ(allocated_variables(source), both) << source;
    EXPECT_FALSE(are_in_order(source)) << source;
  }
}

}  // namespace
}  // namespace warpmeter::runtime
