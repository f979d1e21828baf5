// SPDX-License-Identifier: MIT
#include "base/variant_name.h"

#include <gtest/gtest.h>

namespace warpmeter {
namespace {

struct Named {
  const char* text;
  VariantName name;
};

TEST(VariantName, IsReadAsItIsWritten) {
  const Named names[] = {
      {"padded[TILE=16,PAD=1]", {"padded", {{"TILE", "16"}, {"PAD", "1"}}, {}}},
      {"naive(m=64)", {"naive", {}, {{"m", "64"}}}},
      {"v[T=f(x),K=2](m=2*(3+1),k=8)",
       {"v", {{"T", "f(x)"}, {"K", "2"}}, {{"m", "2*(3+1)"}, {"k", "8"}}}},
      {"v[T=std::pair<int, float>,K=2]", {"v", {{"T", "std::pair<int, float>"}, {"K", "2"}}, {}}},
      {"v[T=f[4],K=a<b,c>]", {"v", {{"T", "f[4]"}, {"K", "a<b,c>"}}, {}}},
      {"v[A=x == 1,y == 2]", {"v", {{"A", "x == 1,y == 2"}}, {}}},
      {"v[A=]", {"v", {{"A", ""}}, {}}},
      {"naive", {"naive", {}, {}}},
  };
  for (const Named& named : names) {
    EXPECT_EQ(variant_name(named.name), named.text);
    const VariantName parsed = parsed_variant_name(named.text);
    EXPECT_EQ(parsed.base, named.name.base) << named.text;
    EXPECT_EQ(parsed.parameters, named.name.parameters) << named.text;
    EXPECT_EQ(parsed.sizes, named.name.sizes) << named.text;
  }
}

TEST(VariantName, OfAnythingElseHasNoParameters) {
  for (const char* text :
       {"", "f<int, 4>(float*)", "a[b]", "a[]", "[K=1]", "a[K=1", "a[1=2]", "f(float (*) [4])",
        "a[K==1]", "operator[]", "f(int)", "(m=1)", "a()", "a(m=1"}) {
    const VariantName parsed = parsed_variant_name(text);
    EXPECT_EQ(parsed.base, text);
    EXPECT_TRUE(parsed.parameters.empty()) << text;
    EXPECT_TRUE(parsed.sizes.empty()) << text;
  }
}

TEST(VariantName, OfAGlobTakesTheBracketsOfParametersForThemselves) {
  EXPECT_EQ(with_literal_parameters("p[V=1]"), "p[[]V=1]");
  EXPECT_EQ(with_literal_parameters("f/p[V=*,T=2](m=*)"), "f/p[[]V=*,T=2](m=*)");
  for (const char* glob : {"p[ab]*", "p[V]", "p[!V=1]", "f/*", "p[V==1]"}) {
    EXPECT_EQ(with_literal_parameters(glob), glob);
  }
}

TEST(VariantName, IsMeantByFamilyNameOrGlob) {
  for (const char* selector : {"f", "f/p[V=1]", "f/p[V=*]", "f/p*", "f*", "*/p[V=[12]]"}) {
    EXPECT_TRUE(means_variant(selector, "f", "p[V=1]")) << selector;
  }
  for (const char* selector : {"g", "p[V=1]", "f/p", "f/p[V=2]", "f/p[V=[23]]"}) {
    EXPECT_FALSE(means_variant(selector, "f", "p[V=1]")) << selector;
  }
  EXPECT_FALSE(means_variant("f/p[V=1]", "f", "pV"));
}

TEST(VariantName, KnowsWhichValuesAreNumbers) {
  EXPECT_EQ(parameter_number("16"), 16);
  EXPECT_EQ(parameter_number("1<<4"), 16);
  EXPECT_EQ(parameter_number("-0.5"), -0.5);
  for (const char* text : {"float", "", "std::pair<int, float>", "true_type"}) {
    EXPECT_EQ(parameter_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace warpmeter
