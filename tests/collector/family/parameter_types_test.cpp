// SPDX-License-Identifier: MIT
// Which buffers a C++ parameter takes, and that what is not known is not refused.
#include "collector/model/input/parameter_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/collector/family/files.h"

namespace warpmeter::family {
namespace {

using testing::HasSubstr;

std::string why(const std::string& argument, const std::string& parameter) {
  return model::wrong_elements(model::parse_argument(argument), parameter);
}

TEST(ParameterTypes, AreReadAsSourcesAndMangledNamesWriteThem) {
  const auto is = [](const std::string& parameter, Element element, std::uint64_t lanes) {
    const auto pointee = model::pointee_of(parameter);
    return pointee && pointee->element == element && pointee->lanes == lanes;
  };
  for (const char* text : {"float*", "float const*", "const float* __restrict__ in", "float *in",
                           "const float in[]", "volatile float* const x", "float x[32]"}) {
    EXPECT_TRUE(is(text, Element::f32, 1)) << text;
  }
  EXPECT_TRUE(is("unsigned long long*", Element::u64, 1));
  EXPECT_TRUE(is("unsigned long const*", Element::u64, 1));
  EXPECT_FALSE(is("unsigned n*", Element::u32, 1));
  EXPECT_TRUE(is("unsigned* n", Element::u32, 1));
  EXPECT_TRUE(is("long int* n", Element::i64, 1));
  EXPECT_TRUE(is("unsigned short*", Element::u16, 1));
  EXPECT_TRUE(is("std::int32_t* n", Element::i32, 1));
  EXPECT_TRUE(is("bool*", Element::boolean, 1));
  EXPECT_TRUE(is("__half const*", Element::f16, 1));
  EXPECT_TRUE(is("float4*", Element::f32, 4));
  EXPECT_TRUE(is("__nv_bfloat162*", Element::bf16, 2));
}

TEST(ParameterTypes, AreNotKnownWhereAnythingHidesThem) {
  for (const char* text :
       {"void*", "void const*", "T* out", "real* out", "Pair const*", "Vector<float>*", "float**",
        "float* const* rows", "float (*)[4]", "float&", "float", "int n", "ns::half*",
        "std::complex<float>*", "long double*", "unsigned __int128*", "", "*", "[]"}) {
    EXPECT_FALSE(model::pointee_of(text)) << text;
  }
}

TEST(ParameterTypes, RefuseElementsOfAnotherSizeOrKind) {
  EXPECT_EQ(why("in:f64[8]", "float const*"), "it points to f32: write f32 in place of f64");
  for (const auto& [argument, parameter] : {std::pair("f32[8]", "double*"),
                                            {"i32[8]", "float*"},
                                            {"f32[8]", "int*"},
                                            {"u8[8]", "float*"},
                                            {"i64[8]", "int*"},
                                            {"f32[8]", "__half*"},
                                            {"bf16[8]", "__half*"},
                                            {"f32[8]", "unsigned short*"},
                                            {"i32[8]", "bool*"},
                                            {"f64[8]", "float4*"},
                                            {"i32[8]", "float4*"},
                                            {"f32[8]", "__half2*"},
                                            {"float4[8]", "double*"}}) {
    EXPECT_NE(why(argument, parameter), "") << argument << " for " << parameter;
  }
}

TEST(ParameterTypes, TakeWhatAKernelMayBeMeantToHave) {
  for (const auto& [argument, parameter] : {std::pair("f32[8]", "float*"),
                                            {"u32[8]", "int*"},
                                            {"f64[8]", "void*"},
                                            {"f64[8]", "unsigned char*"},
                                            {"f64[8]", "char const*"},
                                            {"f32[8]", "float4*"},
                                            {"float4[8]", "float*"},
                                            {"f16[8]", "unsigned short const*"},
                                            {"u16[8]", "__nv_bfloat16*"},
                                            {"f16[8]", "__half2*"},
                                            {"u32[8]", "__half2*"},
                                            {"half2[8]", "unsigned int*"},
                                            {"f16[8]", "uint4 const*"},
                                            {"f32[8]", "int4*"},
                                            {"f16[8]", "float4*"},
                                            {"u8[8]", "bool*"},
                                            {"f64[8]", "T*"},
                                            {"null", "float*"},
                                            {"@in", "int*"},
                                            {"i32=1", "int n"}}) {
    EXPECT_EQ(why(argument, parameter), "") << argument << " for " << parameter;
  }
}

/// PTX keeps the mangled name, which knows the types.
constexpr const char* mangled = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z5scalePfPKfi(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }
.visible .entry plain(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }
)";

struct Elements : FamilyFiles {
  std::string refused(const std::string& kernel, const std::string& arguments) const {
    write("k.ptx", mangled);
    return refusal("file: k.ptx\narguments: " + arguments +
                   "\nvariants:\n  v: { kernel: " + kernel + ", grid: 1, block: 1 }\n");
  }
};

TEST_F(Elements, OfABufferAreHeldAgainstTheMangledName) {
  EXPECT_EQ(refused("scale", "[out: 'f32[8]', in: 'f64[8] = iota', i32: 8]"),
            "f.yaml:2:32: parameter 2 of scale(float*, float const*, int) is float const*, and "
            "'in:f64[8]=iota' does not fit: it points to f32: write f32 in place of f64");
  EXPECT_EQ(refused("scale", "[out: 'f32[8]', in: 'f32[8] = iota', i32: 8]"), "");
  EXPECT_EQ(refused("plain", "[out: 'f32[8]', in: 'f64[8] = iota', i32: 8]"), "");
}

}  // namespace
}  // namespace warpmeter::family
