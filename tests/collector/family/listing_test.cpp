// SPDX-License-Identifier: MIT
#include "collector/family/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "collector/family/example.h"

namespace warpmeter::family {
namespace {

using testing::ElementsAre;

constexpr const char* source = R"(
#include <cuda_fp16.h>
#define KERNEL(name) __global__ void name(int)
// __global__ void commented(int a) {}
__global__ void declared(int a);
namespace ns {
extern "C" __global__ __launch_bounds__(256, 2) void saxpy(float* __restrict__ y, const float* x,
                                                           float a, const int n) {}
}
template <int TILE, typename T = float>
__global__ void tiled(T* out, const double4* in, unsigned long count, __half h) {}
__global__ void none() {}
__global__ void blur(float* out, unsigned width) {
  out[(blockIdx.y * blockDim.y + threadIdx.y) * width] = 0;
}
)";

TEST(Listing, FindsWhatASourceDefinesWithItsSignature) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("warpmeter_listing." + std::to_string(getpid()) + ".cu");
  std::ofstream(path) << source;
  const std::vector<Found> found = kernels_in(path.string(), {});
  std::filesystem::remove(path);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].signature,
            "void saxpy(float* __restrict__ y, const float* x, float a, const int n)");
  EXPECT_THAT(found[0].arguments,
              ElementsAre("y:f32[1<<20]", "x:f32[1<<20]=random", "a:f32=1.5", "n:i32=1024"));
  EXPECT_EQ(found[1].kernel, "tiled<TILE, T>");
  EXPECT_EQ(found[1].signature,
            "template <int TILE, typename T = float> void tiled(T* out, const double4* in, "
            "unsigned long count, __half h)");
  EXPECT_THAT(found[1].arguments, ElementsAre("out:f32[1<<20]", "in:double4[1<<20]=random",
                                              "count:u64=1024", "h:f16=1.5"));
  EXPECT_TRUE(found[2].arguments.empty());
  EXPECT_EQ(found[2].dimensions, 1);
  EXPECT_EQ(found[3].dimensions, 2);
  EXPECT_THAT(found[3].arguments, ElementsAre("out:f32[1<<20]", "width:u32=256"));
}

TEST(Listing, StartsFromArgumentsThatFit) {
  const auto declared = [](const char* parameter) {
    return example_of_declaration(parameter, 1024, false);
  };
  EXPECT_EQ(declared("float4 v"), "v:float4=0,0,0,0");
  EXPECT_EQ(declared("unsigned char c"), "c:u8=1");
  EXPECT_EQ(declared("const unsigned* __restrict__ in"), "in:u32[1<<20]=random:0..255");
  EXPECT_EQ(declared("const int* row_ptr"), "row_ptr:i32[1<<20]=iota");
  EXPECT_EQ(declared("const char* text"), "text:i8[1<<20]=random:0..127");
  EXPECT_EQ(declared("const Box* boxes"), "boxes:f32[1<<20]=zeros");
  EXPECT_EQ(declared("std::uint32_t* to"), "to:u32[1<<20]");
  EXPECT_EQ(example_of_declaration("float* data", 64, true), "data:f32[1<<20]=zeros");
  EXPECT_EQ(example_of_declaration("int depth", 64, true), "depth:i32=64");
  const auto known = [](const model::Parameter& parameter, const char* type) {
    return example_of_parameter(parameter, type, 1024);
  };
  const model::Parameter pointer{0, 8, "u64"}, structure{8, 12, "b8[12]"}, byte{20, 1, "u8"};
  EXPECT_EQ(known(pointer, "unsigned long long const volatile*"), "u64[1<<20]=random:0..255");
  EXPECT_EQ(known(pointer, "Limits"), "bytes=0x0000000000000000");
  EXPECT_EQ(known(pointer, ""), "f32[1<<20]=zeros");
  EXPECT_EQ(known(structure, "Box<int>"), "bytes=0x000000000000000000000000");
  EXPECT_EQ(known(byte, ""), "i8=1");
  EXPECT_EQ(known(byte, "bool"), "bool=1");
}

/// Their only kernel.
Found found_in(const std::string& text) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("warpmeter_listing." + std::to_string(getpid()) + ".cu");
  std::ofstream(path) << text;
  const std::vector<Found> found = kernels_in(path.string(), {});
  std::filesystem::remove(path);
  return found.at(0);
}

TEST(Listing, StartsFromBlocksThatFitTheKernel) {
  const Found bounded =
      found_in("#define MOST 128\n__global__ __launch_bounds__(MOST) void k(int* a) { a[0]++; }");
  EXPECT_EQ(bounded.block, 128U);
  EXPECT_THAT(bounded.arguments, ElementsAre("a:i32[1<<20]=zeros"));
  const Found tiled = found_in(
      "constexpr int TILE = 32;\n__global__ void k(float* a) { __shared__ float s[TILE][TILE+1];\n"
      "  a[threadIdx.y] = 0; }");
  EXPECT_EQ(tiled.tile, 32U);
  EXPECT_THAT(tiled.arguments, ElementsAre("a:f32[1<<20]"));
  EXPECT_EQ(found_in("__global__ void k(float* a) { __shared__ float s[8][8], t[8][9];\n"
                     "  a[threadIdx.y] = 0; }")
                .tile,
            8U);
  EXPECT_EQ(found_in("__global__ void k(float* a) { a[blockIdx.x * 64 + threadIdx.x] = 0; }").tile,
            64U);
  const Found row = found_in("__global__ void k(float* a) { __shared__ int s[64], t; a[0] = 0; }");
  EXPECT_EQ(row.tile, 64U);
  const Found large = found_in(
      "__global__ __launch_bounds__(256) void k(float* a) { __shared__ int s[512]; a[0] = 0; }");
  EXPECT_EQ(large.tile, 0U);
  EXPECT_TRUE(found_in("__global__ void k(int n) { extern __shared__ int s[]; s[0] = n; }")
                  .has_dynamic_shared);
}

TEST(Listing, SaysTheSignatureOfAnInstance) {
  EXPECT_EQ(signature_in(source, "tiled<16, float>"),
            "template <int TILE, typename T = float> void tiled(T* out, const double4* in, "
            "unsigned long count, __half h)");
  EXPECT_EQ(signature_in(source, "commented"), "");
}

}  // namespace
}  // namespace warpmeter::family
