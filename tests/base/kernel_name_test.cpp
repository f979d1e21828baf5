// SPDX-License-Identifier: MIT
#include "base/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace warpmeter {
namespace {

TEST(KernelName, DemanglesWhatIsMangled) {
  EXPECT_EQ(demangled("_Z6reduceILi4EEvPf"), "void reduce<4>(float*)");
}

/// Numba's, which tells compilations of one function apart.
TEST(KernelName, HasNoTags) {
  EXPECT_EQ(function_name("_ZN8__main__6add_itB2v1B8cw51cXTLE5ArrayIfLi1E1CE"), "add_it");
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

/// Kernels as their libraries name them, with the parts that have to be told.
TEST(KernelName, LongNamesOfTemplatesShowThePartThatTellsThemApart) {
  const std::string scope = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_",
                    arrays = "ESt5arrayIPcLm3EEEEviT0_T1_";
  const std::string add = scope + "15CUDAFunctor_addIfE" + arrays,
                    add_half = scope + "15CUDAFunctor_addIN3c104HalfEE" + arrays,
                    mul = scope + "15CUDAFunctor_mulIfE" + arrays;
  const Names names = distinct_names({add, mul});
  EXPECT_THAT(names.at(add),
              testing::MatchesRegex("vectorized_elementwise_kernel<add>#[0-9a-f]{4}"));
  EXPECT_THAT(names.at(mul),
              testing::MatchesRegex("vectorized_elementwise_kernel<mul>#[0-9a-f]{4}"));
  const Names three = distinct_names({add, add_half, mul});
  EXPECT_THAT(three.at(add),
              testing::MatchesRegex("vectorized_elementwise_kernel<add float>#[0-9a-f]{4}"));
  EXPECT_EQ(name_of_pairs(three.at(add)), name_of_pairs(names.at(add)));
  EXPECT_NE(name_of_pairs(three.at(add)), name_of_pairs(three.at(mul)));
  EXPECT_TRUE(is_name_of(three.at(add), add));
  EXPECT_FALSE(is_name_of(three.at(add), mul));
}

TEST(KernelName, PartsThatAnotherHasTooStandBeforeTheNumber) {
  const std::string begin = "_Z1tI28functor_with_a_long_name_", end = "EfyyEvPf";
  const Names names =
      distinct_names({begin + "addIf" + end, begin + "mulIf" + end, begin + "mulId" + end});
  EXPECT_THAT(names.at(begin + "mulIf" + end), testing::MatchesRegex("t<mul>#[0-9a-f]{4}"));
  EXPECT_THAT(names.at(begin + "mulId" + end), testing::MatchesRegex("t<double>#[0-9a-f]{4}"));
}

TEST(KernelName, LongPlainNamesAreCutAndDiffer) {
  const std::string begin = "sm80_xmma_gemm_f32f32_f32f32_f32_",
                    end = "_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas";
  const std::string a = begin + "nn_n_tilesize64x64x8" + end,
                    b = begin + "tn_n_tilesize64x64x8" + end,
                    c = begin + "nn_n_tilesize32x32x8" + end;
  const Names names = distinct_names({a, b, c});
  EXPECT_THAT(names.at(a), testing::HasSubstr("nn"));
  EXPECT_THAT(names.at(a), testing::HasSubstr("tilesize64x64x8"));
  EXPECT_THAT(names.at(b), testing::HasSubstr("tn"));
  EXPECT_THAT(names.at(c), testing::HasSubstr("tilesize32x32x8"));
  for (const auto& [kernel, name] : names) {
    EXPECT_THAT(name, testing::StartsWith("sm80_xmma_gemm…"));
    EXPECT_LE(name.size(), 60u);
    EXPECT_TRUE(is_name_of(name, kernel));
    EXPECT_TRUE(is_name_of(kernel, kernel));
  }
  EXPECT_EQ(name_of_pairs(names.at(a)), name_of_pairs(distinct_names({a}).at(a)));
}

TEST(KernelName, PairsHaveOtherNamesAsTheyAre) {
  for (const char* name : {"reduce", "t<8>", "A::t<8>(float*)", "t#3f0a", "f#12", "",
                           "f<A, {lambda(int)#12}>", "f<g<{lambda()#1}>>"}) {
    EXPECT_EQ(name_of_pairs(name), name);
  }
}

TEST(KernelName, NumbersOfLambdasAreNoNumbersOfNames) {
  const std::string a = "_Z1fI1AZ4mainEUliE10_Evv", b = "_Z1fI1BZ4mainEUliE10_Evv";
  const Names names = distinct_names({a, b});
  EXPECT_NE(names.at(a), names.at(b));
  EXPECT_NE(names.at(a), a);
  EXPECT_NE(names.at(b), b);
}

TEST(KernelName, NamespacesDoNotTakeTheRoomOfWordsThatDiffer) {
  const std::string begin = "abc::def::cutlass_80_wmma_tensorop_f16_s161616gemm_f16_",
                    end = "_align8_stage2_warpsize2x2x1_kernel_of_a_library";
  const Names names = distinct_names({begin + "nn" + end, begin + "tn" + end});
  for (const auto& [kernel, name] : names) {
    EXPECT_THAT(name, testing::StartsWith("cutlass_80_wmma…"));
    EXPECT_THAT(name, testing::Not(testing::HasSubstr("80 wmma")));
    EXPECT_THAT(name, testing::HasSubstr("tensorop"));
  }
}

/// Kernels of cuBLAS, cuDNN, cuFFT, cuRAND, cuSOLVER, cuSPARSE, NCCL, CUTLASS, PyTorch and Triton.
TEST(KernelName, KernelsOfLibrariesGetShortNamesThatDiffer) {
  std::ifstream file(source_dir() + "/tests/golden/library_kernels.txt");
  std::set<std::string> kernels, pairs;
  for (std::string line; std::getline(file, line);) kernels.insert(line);
  ASSERT_GT(kernels.size(), 400u);
  for (const auto& [kernel, name] : distinct_names(kernels)) {
    EXPECT_LE(name.size(), 60u) << kernel;
    EXPECT_TRUE(is_name_of(name, kernel)) << name;
    EXPECT_TRUE(pairs.insert(name_of_pairs(name)).second) << name;
  }
}

/// More kernels of one function than there are numbers of 16 bits that would all differ by chance.
TEST(KernelName, NamesOfManyKernelsNeverMeet) {
  const std::string type(70, 'x');
  std::set<std::string> kernels;
  for (int i = 0; i < 2000; ++i) {
    kernels.insert("_Z1tI70" + type + "EvPfPA" + std::to_string(i + 1) + "_d");
  }
  std::set<std::string> shown;
  for (const auto& [kernel, name] : distinct_names(kernels)) {
    EXPECT_TRUE(is_name_of(name, kernel)) << name;
    shown.insert(name);
  }
  EXPECT_EQ(shown.size(), kernels.size());
}

TEST(KernelName, IsAnyOfTheNamesThatTablesShow) {
  for (const char* name : {"t", "t<8>", "A::t", "A::t<8>", "A::t<8>(float*)"}) {
    EXPECT_TRUE(is_name_of(name, "_ZN1A1tILi8EEEvPf")) << name;
  }
  EXPECT_FALSE(is_name_of("t<1>", "_ZN1A1tILi8EEEvPf"));
}

}  // namespace
}  // namespace warpmeter
