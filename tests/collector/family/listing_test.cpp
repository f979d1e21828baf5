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
  EXPECT_THAT(found[3].arguments, ElementsAre("out:f32[1<<20]", "width:u32=1024"));
}

TEST(Listing, StartsFromArgumentsThatFit) {
  EXPECT_EQ(example_of_declaration("float4 v"), "v:float4=0,0,0,0");
  EXPECT_EQ(example_of_declaration("unsigned char c"), "c:u8=1");
  EXPECT_EQ(example_of_declaration("const unsigned* __restrict__ in"), "in:u32[1<<20]=random");
  EXPECT_EQ(example_of_declaration("const int& limit"), "limit:i32[1<<20]=random");
  EXPECT_EQ(example_of_declaration("std::uint32_t* to"), "to:u32[1<<20]");
  const model::Parameter pointer{0, 8, "u64"}, structure{8, 12, "b8[12]"}, byte{20, 1, "u8"};
  EXPECT_EQ(example_of_parameter(pointer, "unsigned long long const volatile*"),
            "u64[1<<20]=random");
  EXPECT_EQ(example_of_parameter(pointer, "Limits"), "bytes=0x0000000000000000");
  EXPECT_EQ(example_of_parameter(pointer, ""), "f32[1<<20]");
  EXPECT_EQ(example_of_parameter(structure, "Box<int>"), "bytes=0x000000000000000000000000");
  EXPECT_EQ(example_of_parameter(byte, ""), "i8=1");
  EXPECT_EQ(example_of_parameter(byte, "bool"), "bool=1");
}

TEST(Listing, SaysTheSignatureOfAnInstance) {
  EXPECT_EQ(signature_in(source, "tiled<16, float>"),
            "template <int TILE, typename T = float> void tiled(T* out, const double4* in, "
            "unsigned long count, __half h)");
  EXPECT_EQ(signature_in(source, "commented"), "");
}

}  // namespace
}  // namespace warpmeter::family
