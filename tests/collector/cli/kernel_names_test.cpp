// SPDX-License-Identifier: MIT
// How instances of templates are named in a family: as C++ takes them, whichever compiler makes
// them.
#include <chrono>

#include "tests/collector/cli/family_file.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class KernelNames : public FamilyFile {};

TEST_F(KernelNames, AreTakenByEachCompilerAsAnyOtherSpellsThem) {
  write("k.cu", R"(
enum class Kind { plain, twice };
using real = float;
constexpr unsigned four = 4;
template <typename T, unsigned N, Kind KIND = Kind::plain>
__global__ void put(T* out) {
  static_assert(N < 9, "N is too large");
  out[threadIdx.x] = T(N * (KIND == Kind::twice ? 2 : 1));
}
template <int N> __global__ void put(float* out, int) { out[threadIdx.x] = 0; }
namespace { template <int N> __global__ void hidden(float* out) { out[threadIdx.x] = N; } }
)");
  const std::string family = R"(
file: k.cu
arguments: [out: 'f32[32]']
variants:
  put:
    kernel: put<T, N, KIND>
    parameters: { T: [float, real], N: [2+2, four], KIND: ['Kind::plain', 'Kind::twice'] }
    grid: 1
    block: 32
  default: { kernel: 'put<real, (1<<2)>', grid: 1, block: 32 }
  hidden: { kernel: 'hidden<2+2>', grid: 1, block: 32 }
  large: { kernel: 'put<real, 3*3>', grid: 1, block: 32 }
  unknown: { kernel: 'put<flaot, 4>', grid: 1, block: 32 }
)";
  for (const char* compiler : {"nvrtc", "nvcc"}) {
    const Outcome outcome = run(family, {"--compiler", compiler});
    EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
    const std::string last = " AND run_id = (SELECT max(run_id) FROM runs)";
    EXPECT_EQ(value_of("SELECT group_concat(DISTINCT kernel) FROM launches WHERE outcome = 'done' "
                       "AND variant LIKE 'put[%Kind::plain]'" +
                       last),
              "_Z3putIfLj4EL4Kind0EEvPT_")
        << compiler;
    EXPECT_EQ(value_of("SELECT group_concat(DISTINCT kernel) FROM launches WHERE outcome = 'done' "
                       "AND variant LIKE 'put[%Kind::twice]'" +
                       last),
              "_Z3putIfLj4EL4Kind1EEvPT_");
    EXPECT_EQ(value_of("SELECT kernel FROM launches WHERE variant = 'default'" + last),
              "_Z3putIfLj4EL4Kind0EEvPT_");
    EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE outcome = 'done'" + last), "10");
    EXPECT_EQ(value_of("SELECT group_concat(variant) FROM launches WHERE outcome = 'failed' AND "
                       "reason LIKE '%N is too large%'" +
                       last),
              "large");
    EXPECT_EQ(value_of("SELECT group_concat(variant) FROM launches WHERE outcome = 'failed' AND "
                       "reason LIKE '%identifier \"flaot\" is undefined%'" +
                       last),
              "unknown");
  }
  EXPECT_THAT(
      warpmeter({"query",
                 "SELECT reason FROM launches WHERE variant = 'unknown' AND "
                 "run_id = 2"})
          .output,
      AllOf(HasSubstr("no instance 'put<flaot, 4>' can be made of a kernel of k.cu: identifier "),
            Not(HasSubstr("warpmeter_instance")), Not(HasSubstr("instances.cu"))));
  const Outcome alone = warpmeter({"model", "k.cu", "--compiler", "nvcc", "-k", "put<real, 2*2>",
                                   "--grid", "1", "--block", "32", "--arg", "f32[32]"});
  EXPECT_EQ(alone.exit_code, 0) << alone.error;
}

TEST_F(KernelNames, KeepABlankBetweenWords) {
  write("k.cu", "template <class T> __global__ void put(T* out) { out[threadIdx.x] = sizeof(T); }");
  const Outcome outcome =
      warpmeter({"run", "k.cu", "-b", "model", "-q", "-k", "put< unsigned  int >", "--grid", "1",
                 "--block", "32", "--arg", "out:u32[32]"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT variant FROM launches"), "put<unsigned int>");
  EXPECT_EQ(warpmeter({"check", "-g", "k/put<unsigned int>: gst_efficiency == 100"}).exit_code, 0);
}

// NVRTC takes a minute for these.
TEST_F(KernelNames, ThatAreWrongAreRefusedBeforeThousandsOfKernelsAreCompiled) {
  std::string source;
  for (int i = 0; i < 8000; ++i) {
    const std::string name = "kernel_" + std::to_string(i);
    source +=
        "extern \"C\" __global__ void " + name + "(int* p) { *p = " + name.substr(7) + "; }\n";
  }
  write("k.cu", source);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = warpmeter({"run", "k.cu", "-b", "model", "-k", "kernle_77", "--grid", "1",
                                     "--block", "32", "--arg", "i32[1]"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("holds no kernel 'kernle_77'; did you mean kernel_77"));
  EXPECT_LT(outcome.error.size(), 1000U);
}

TEST_F(KernelNames, ThatAreWrongAreToldHowManyInstancesAreNotInTheList) {
  write("k.cu", "template <int N> __global__ void put(float* out) { out[threadIdx.x] = N; }");
  const Outcome outcome = run(R"(
file: k.cu
arguments: [out: 'f32[32]']
variants:
  put: { kernel: put<N>, parameters: { N: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }, grid: 1, block: 32 }
  other: { kernel: putt, grid: 1, block: 32 }
)",
                              {});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("f.yaml:6:20: "), HasSubstr("it holds 'put<10>', 'put<9>' ("),
                    HasSubstr("; 8 more instances that the family names are "
                              "compiled apart from these")));
}

}  // namespace
}  // namespace warpmeter::cli
