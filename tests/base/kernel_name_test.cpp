// SPDX-License-Identifier: MIT
#include "base/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpmeter {
namespace {

TEST(KernelName, DemanglesWhatIsMangled) {
  EXPECT_EQ(demangled("_Z6reduceILi4EEvPf"), "void reduce<4>(float*)");
}

TEST(KernelName, LeavesPlainNamesAlone) {
  for (const char* name : {"late_store", "f", "i", "", "_Zwrong"}) {
    EXPECT_EQ(demangled(name), name);
  }
}

TEST(KernelName, TellsTheTypesOfParameters) {
  using Types = std::vector<std::string>;
  EXPECT_EQ(parameter_types("_Z5tiledILi16EEvPfPKfi"), (Types{"float*", "float const*", "int"}));
  EXPECT_EQ(parameter_types("_Z4manyIfJidEEvPT_DpT0_"), (Types{"float*", "int", "double"}));
  EXPECT_EQ(parameter_types("_Z1kPFiiES0_y"),
            (Types{"int (*)(int)", "int (*)(int)", "unsigned long long"}));
  EXPECT_EQ(parameter_types("_ZN12_GLOBAL__N_11kE3BoxIiLi2EE"), Types{"Box<int, 2>"});
  EXPECT_EQ(parameter_types("_ZN2ns4noneEv"), Types{});
  EXPECT_EQ(parameter_types("saxpy"), std::nullopt);
}

TEST(KernelName, KeepsTheBlanksThatItNeeds) {
  EXPECT_EQ(without_needless_blanks(" f< unsigned  int , 4 > "), "f<unsigned int,4>");
  EXPECT_EQ(without_needless_blanks("f<const char *, a::b<c> >"), "f<const char*,a::b<c>>");
  EXPECT_EQ(without_needless_blanks(""), "");
}

TEST(KernelName, FunctionIsTheBareName) {
  const std::pair<const char*, const char*> cases[] = {
      {"_Z6reduceILi4EEvPf", "reduce"},
      {"_ZN4work7stridedILi8EEEvPKfPfi", "strided"},
      {"late_store", "late_store"},
      {"void foo::bar<int, (baz)3>(float*, void (*)(int))", "bar"},
      {"void (anonymous namespace)::kernel<a::b<c> >(a::b<c>)", "kernel"},
      {"(anonymous namespace)::kernel(int)", "kernel"},
      {"void at::native::elementwise<4, at::f(x&)::{lambda(int)#1}>(int, "
       "at::f(x&)::{lambda(int)#1})",
       "elementwise"},
      {"", ""},
  };
  for (const auto& [name, function] : cases) EXPECT_EQ(function_name(name), function) << name;
}

using Names = std::map<std::string, std::string>;

TEST(KernelName, TellsInstancesNamespacesAndOverloadsApart) {
  // template<int> t, A::k and B::k, f(int) and f(float), and one of its own.
  EXPECT_EQ(distinct_names({"_Z1tILi1EEvPf", "_Z1tILi8EEvPf", "_ZN1A1kEPf", "_ZN1B1kEPf", "_Z1fi",
                            "_Z1ff", "_ZN2ns4onlyILi3EEEvPf"}),
            (Names{{"_Z1tILi1EEvPf", "t<1>"},
                   {"_Z1tILi8EEvPf", "t<8>"},
                   {"_ZN1A1kEPf", "A::k"},
                   {"_ZN1B1kEPf", "B::k"},
                   {"_Z1fi", "f(int)"},
                   {"_Z1ff", "f(float)"},
                   {"_ZN2ns4onlyILi3EEEvPf", "only"}}));
}

TEST(KernelName, NamespacesAndArgumentsTogetherTellApart) {
  EXPECT_EQ(distinct_names({"_ZN1A1kILi1EEEvPf", "_ZN1A1kILi2EEEvPf", "_ZN1B1kILi1EEEvPf"}),
            (Names{{"_ZN1A1kILi1EEEvPf", "A::k<1>"},
                   {"_ZN1A1kILi2EEEvPf", "A::k<2>"},
                   {"_ZN1B1kILi1EEEvPf", "B::k<1>"}}));
}

TEST(KernelName, LongNamesGetANumber) {
  const std::string long_type(70, 'x');
  const std::string a = "_Z1tI70" + long_type + "EvPf", b = "_Z1tI70" + long_type + "EvPd";
  const Names names = distinct_names({a, b});
  EXPECT_THAT(names.at(a), testing::MatchesRegex("t#[0-9a-f]{4}"));
  EXPECT_NE(names.at(a), names.at(b));
  EXPECT_TRUE(is_name_of(names.at(a), a));
  EXPECT_FALSE(is_name_of(names.at(a), b));
}

TEST(KernelName, IsAnyOfTheNamesThatTablesShow) {
  for (const char* name : {"t", "t<8>", "A::t", "A::t<8>", "A::t<8>(float*)"}) {
    EXPECT_TRUE(is_name_of(name, "_ZN1A1tILi8EEEvPf")) << name;
  }
  EXPECT_FALSE(is_name_of("t<1>", "_ZN1A1tILi8EEEvPf"));
}

}  // namespace
}  // namespace warpmeter
