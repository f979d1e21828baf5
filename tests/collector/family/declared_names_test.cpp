// SPDX-License-Identifier: MIT
// Names that a source declares, and names that only a macro can give a meaning.
#include "collector/family/declared_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpmeter::family {
namespace {

using testing::Contains;
using testing::Not;

TEST(DeclaredNames, AreThoseBehindAType) {
  for (const char* text :
       {"void f(const float* B, int n) {}", "void f(float* __restrict__ B) {}", "int B = 4;",
        "float A, B;", "float A[4], *B;", "for (int i = 0, B = 4; i < B; ++i) {}",
        "struct T {}; void f(T* B) {}", "template <class T> void f(const T& B) {}",
        "struct S { double B; };", "std::vector<int> B(4);", "enum { A, B };", "int B(int);",
        "__shared__ float B[16][17];", "unsigned char B;", "uint32_t B{};", "float4 B;"}) {
    EXPECT_THAT(declared_names(text), Contains("B")) << text;
  }
}

TEST(DeclaredNames, AreNoneThatAreOnlyUsed) {
  for (const char* text :
       {"int x = blockIdx.x * B;", "f(a * B, c);", "__shared__ float s[B][B + 1];", "return B;",
        "#ifndef B\n#define B 16\n#endif\nint x = B;", "// int B\nint x = B;",
        "case B:", "tile<B>(x);", "constexpr int n = B;", "for (int i = 0; i < B; ++i) {}",
        "const char* t = \"int B;\"; int x = B;", "new int[B]; delete B;", "x = y ? B : 1;",
        "float s[B];", "static_assert(B > 4);", "p->B = 4;"}) {
    EXPECT_THAT(declared_names(text), Not(Contains("B"))) << text;
  }
}

}  // namespace
}  // namespace warpmeter::family
