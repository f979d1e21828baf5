// SPDX-License-Identifier: MIT
// Functions that recur, are called through pointers, or come with the driver: against what the host
// computes.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "tests/collector/model/compiled_programs.h"

namespace warpmeter::model {
namespace {

using testing::HasSubstr;

class Calls : public CompiledPrograms {};

int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

TEST_P(Calls, Recur) {
  EXPECT_EQ(result<int>("calls", "recursion", 64, 64),
            expected(64, [](int i) { return fibonacci(i % 13); }));
  EXPECT_EQ(result<int>("calls", "nested_recursion", 64, 64),
            expected(64, [](int i) { return ackermann(i % 3, i % 5); }));
  EXPECT_EQ(result<int>("calls", "local_tree", 32, 32), expected(32, [](int i) {
              const std::function<int(int)> depth = [&](int node) {
                return node >= 7 - (i & 3) ? 0
                                           : 1 + std::max(depth(2 * node + 1), depth(2 * node + 2));
              };
              return i % 7 < 7 - (i & 3) ? depth(i % 7) : 1;
            }));
  const Ints unsorted = numbers(32 * 40);
  const TestRun run_sort =
      run("calls", "quicksort", 32, {TestArgument::buffer(unsorted), TestArgument::scalar(40)});
  ASSERT_EQ(run_sort.refusal + run_sort.trap(), "");
  Ints sorted = unsorted;
  for (auto row = sorted.begin(); row != sorted.end(); row += 40) std::sort(row, row + 40);
  EXPECT_EQ(run_sort.buffer<int>(0), sorted);
}

/// As Numba compiles `cuda.cg.this_grid().sync()`: libcudadevrt has the functions as machine code
/// alone. Each block waits for all, then adds its neighbour's number to its own; three times.
TEST(FunctionsOfTheDeviceRuntime, HoldTheGridTogether) {
  constexpr std::uint32_t blocks = 5;
  const std::string sync =
      "  { .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h], %d4;\n"
      "    st.param.b32 [f], 0; call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %r8, [e]; "
      "}\n";
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);\n"
      ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n"
      ".visible .entry rounds(.param .u64 out) {\n"
      "  .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %d<5>;\n"
      "  { .param .b32 s; .param .b64 h; st.param.b32 [s], 1;\n"
      "    call.uni (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %d4, [h]; }\n"
      "  ld.param.u64 %d1, [out];\n  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %nctaid.x;\n"
      "  add.u32 %r3, %r1, 1;\n  rem.u32 %r3, %r3, %r2;\n"
      "  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d2, %d1, %d2;\n"
      "  mul.wide.u32 %d3, %r3, 4;\n  add.u64 %d3, %d1, %d3;\n  mov.u32 %r7, 0;\n"
      "AGAIN:\n" +
      sync + "  ld.volatile.global.u32 %r4, [%d2];\n  ld.volatile.global.u32 %r5, [%d3];\n" + sync +
      "  add.u32 %r4, %r4, %r5;\n  st.volatile.global.u32 [%d2], %r4;\n"
      "  add.u32 %r7, %r7, 1;\n  setp.lt.u32 %p1, %r7, 3;\n  @%p1 bra AGAIN;\n  ret;\n}\n";
  Ints numbers = {1, 20, 300, 4000, 50000};
  const TestRun run = run_ptx(ptx, "rounds", geometry(blocks, 64), {TestArgument::buffer(numbers)});
  ASSERT_EQ(run.refusal + run.trap(), "");
  for (int round = 0; round < 3; ++round) {
    const Ints before = numbers;
    for (std::size_t i = 0; i < blocks; ++i) numbers[i] = before[i] + before[(i + 1) % blocks];
  }
  EXPECT_EQ(run.buffer<int>(0), numbers);
}

/// A kernel that calls f0, which calls f1, and so on: each adds 1 to its argument.
std::string chain_of(int length) {
  std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const auto call = [](int callee, const char* result) {
    return fmt::format(
        "  {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call.uni (q), f{}, (p);\n"
        "    ld.param.b32 {}, [q]; }}\n",
        callee, result);
  };
  for (int i = length; i-- > 0;) {
    ptx += fmt::format(
        ".func (.param .b32 r) f{}(.param .b32 a) {{\n  .reg .b32 %r<4>;\n"
        "  ld.param.b32 %r1, [a];\n  mov.b32 %r2, %r1;\n{}  add.u32 %r3, %r2, 1;\n"
        "  st.param.b32 [r], %r3;\n  ret;\n}}\n",
        i, i + 1 < length ? call(i + 1, "%r2") : "");
  }
  return ptx +
         ".visible .entry chain(.param .u64 out) {\n  .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
         "  ld.param.u64 %d1, [out];\n  mov.u32 %r1, %tid.x;\n" +
         call(0, "%r2") +
         "  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d1, %d1, %d2;\n"
         "  st.global.u32 [%d1], %r2;\n  ret;\n}\n";
}

// An analysis that takes the cube of a chain's length takes minutes here.
TEST(ChainsOfCalls, AreDecodedInSeconds) {
  constexpr int length = 2000;
  const auto begin = std::clock();
  const TestRun run =
      run_ptx(chain_of(length), "chain", geometry(1, 32), {TestArgument::buffer(Ints(32))});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<int>(0)[7], 7 + length);
  EXPECT_LT(seconds, 20);
}

TEST(ChainsOfCalls, TakeNoStackOfOursForEachFunction) {
  std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.func f0() { ret; }\n";
  for (int i = 1; i < 50'000; ++i) {
    ptx += fmt::format(".func f{}() {{ call.uni f{}; ret; }}\n", i, i - 1);
  }
  ptx += ".visible .entry chain() { call.uni f49999; ret; }\n";
  const TestRun run = run_ptx(ptx, "chain", geometry(1, 32), {});
  EXPECT_EQ(run.refusal + run.trap(), "");
}

int from_many_places(int n, int seed) {
  if (n == 0) return seed;
  int kept[8];
  for (int i = 0; i < 8; ++i) kept[i] = seed * i;
  const int place = n % 40;
  kept[place % 8] += from_many_places(n - 1, kept[(place + 1) % 8] & 255);
  return std::accumulate(kept, kept + 8, 0, [](int sum, int k) { return (3 * sum + k) & 0xffff; });
}

TEST_P(Calls, KeepLittleOfTheStackForManyCalls) {
  EXPECT_EQ(result<int>("calls", "many_places", 32, 32),
            expected(32, [](int i) { return from_many_places(30, i); }));
}

TEST_P(Calls, PassStructures) {
  constexpr int counts[] = {3, 5, 7, 3, 5, 3};
  EXPECT_EQ(result<int>("calls", "structures", 32, 32 * 6), expected(32 * 6, [&](int place) {
              const int n = place / 6 % 4;
              int sum = 0;
              for (int i = 0; i < counts[place % 6]; ++i) sum = 3 * sum + (i + 1) + n * (2 * i + 1);
              return sum;
            }));
}

TEST_P(Calls, CallThroughPointers) {
  const Ints which = expected(64, [](int i) { return i * i % 3; });
  EXPECT_EQ(result<int>("calls", "function_table", 64, 64, {TestArgument::buffer(which)}),
            expected(64, [&](int i) {
              return i * i % 3 == 0 ? i + 7 : i * i % 3 == 1 ? i - 7 : i * 7;
            }));
  const Floats areas = result<float>("calls", "virtual_functions", 64, 64);
  ASSERT_EQ(areas.size(), 64u);
  for (int i = 0; i < 64; ++i) {
    const int square = i * i, disc = 3 * i * i;
    const int area = i % 3 == 0 ? square : i % 3 == 1 ? disc : 2 + (i % 2 != 0 ? square : disc);
    EXPECT_EQ(areas[static_cast<std::size_t>(i)], static_cast<float>(area)) << i;
  }
}

TEST_P(Calls, PrintAssertAndAllocate) {
  std::string printed;
  LaunchOptions options;
  options.print = [&](std::string_view text) { printed += text; };
  const TestRun prints = run("calls", "prints", 32, {}, options);
  EXPECT_EQ(prints.refusal + prints.trap(), "");
  EXPECT_EQ(printed, "0 of two:  0.00 1099511627776 x ff%\n1 of two:  0.50 1099511627776 x ff%\n");

  const TestRun fails =
      run("calls", "asserts", 32, {TestArgument::buffer(Ints(32)), TestArgument::scalar(20)});
  EXPECT_THAT(fails.trap(), HasSubstr("failed assertion in kernel 'asserts': threadIdx.x < n"));
  EXPECT_THAT(fails.trap(), HasSubstr("thread (20,0,0)"));
  const TestRun holds =
      run("calls", "asserts", 32, {TestArgument::buffer(Ints(32)), TestArgument::scalar(32)});
  EXPECT_EQ(holds.refusal + holds.trap(), "");

  EXPECT_EQ(result<int>("calls", "allocates", 64, 64),
            expected(64, [](int i) { return 16 * i + 120; }));
}

INSTANTIATE_TEST_SUITE_P(Architectures, Calls, testing::Values(90, 100),
                         [](const auto& program) { return fmt::format("sm_{}", program.param); });

}  // namespace
}  // namespace warpmeter::model
