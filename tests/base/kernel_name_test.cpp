#include "base/kernel_name.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace warpmeter
