// SPDX-License-Identifier: MIT
// Barriers and exchanges that only some lanes of a warp come to, held to what an H100 did (driver
// 580.159.04, CUDA 13.0, 2026-11-25): tests/golden/h100_divergent_barriers.csv has for each kernel
// of programs/barriers.cu whether it ended, and for each point of it which threads passed it, with
// which answers, and who had come to which point by then, whichever halves of warps were late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/sass/audit.h"
#include "collector/model/input/kernel_file.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/csv.h"
#include "tests/paths.h"

namespace warpmeter::model::parting {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

// As programs/barriers.cu has them.
constexpr std::size_t threads = 96, points = 6, words = 16;
constexpr std::size_t answer_at = 13, passed_at = 14, seen_words = 12;

const std::string& text() {
  static const std::string ptx = [] {
    std::ifstream file(
        fmt::format("{}/tests/collector/model/programs/barriers.sm_90.ptx", binary_dir()));
    std::stringstream read;
    read << file.rdbuf();
    return read.str();
  }();
  return ptx;
}

const ptx::Module& module() {
  static const auto parsed = std::get<std::unique_ptr<ptx::Module>>(ptx::parse(text()));
  return *parsed;
}

/// The assembly of ptxas.
const Assembled& assembled() {
  static const Assembled made = assemble(module());
  return made;
}

/// The module with this one entry, which is read faster.
std::string text_with(const std::string& kernel) {
  std::string part;
  const std::string mark = "\t// .globl\t";
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = text().find(mark, at + 1);
    const std::string_view piece = std::string_view(text()).substr(at, end - at);
    const bool is_entry = piece.starts_with(mark) && piece.find(".entry") != piece.npos;
    if (!is_entry || piece.starts_with(mark + kernel + "\n")) part += piece;
    at = end;
  }
  return part;
}

/// `reads`: the machine code may be asked which barriers it predicates.
TestRun run(const std::string& kernel, bool reads = true) {
  LaunchOptions options;
  options.instruction_budget = 10'000'000;
  if (reads) {
    options.predicated_barriers = [&] {
      const auto program = decode(module(), kernel);
      const auto code = sass::read_machine_code(assembled().cubin, kernel);
      return sass::predicated_barriers(std::get<Program>(program),
                                       std::get<sass::MachineCode>(code));
    };
  }
  return run_ptx(text_with(kernel), kernel, geometry(1, threads),
                 {TestArgument::buffer(Words(points * threads * words + 16)),
                  TestArgument::scalar(std::uint32_t{0})},
                 options);
}

struct Golden {
  bool ends = false;
  struct Point {
    std::set<std::size_t> threads;
    std::vector<int> answers;  ///< the answers of those; empty: it depends on more
    std::array<std::uint32_t, seen_words> seen{};
  };
  std::map<std::size_t, Point> points;
};

std::vector<std::uint32_t> hexadecimal(const std::string& cell) {
  std::vector<std::uint32_t> numbers;
  std::istringstream parts(cell);
  for (std::string part; std::getline(parts, part, '/');) {
    numbers.push_back(static_cast<std::uint32_t>(std::stoul(part, nullptr, 16)));
  }
  return numbers;
}

/// "7 0*3" is 7 0 0 0.
std::vector<int> unfolded(const std::string& cell) {
  std::vector<int> numbers;
  std::istringstream parts(cell);
  for (std::string part; parts >> part;) {
    const std::size_t star = part.find('*');
    const int times = star == std::string::npos ? 1 : std::stoi(part.substr(star + 1));
    numbers.insert(numbers.end(), static_cast<std::size_t>(times), std::stoi(part));
  }
  return numbers;
}

std::map<std::string, Golden> golden() {
  std::ifstream file(source_dir() + "/tests/golden/h100_divergent_barriers.csv");
  std::map<std::string, Golden> kernels;
  for (auto& row : csv_rows(file)) {
    Golden& kernel = kernels[row["kernel"]];
    kernel.ends = row["outcome"] == "ends";
    if (!kernel.ends) continue;
    Golden::Point& point = kernel.points[std::stoul(row["point"])];
    const std::vector<std::uint32_t> masks = hexadecimal(row["threads"]);
    for (std::size_t t = 0; t < threads; ++t) {
      if ((masks.at(t / 32) >> t % 32 & 1) != 0) point.threads.insert(t);
    }
    point.answers = unfolded(row["values"]);
    const std::vector<std::uint32_t> seen = hexadecimal(row["seen"]);
    std::copy_n(seen.begin(), seen_words, point.seen.begin());
  }
  return kernels;
}

TEST(Parting, EndsAsOnHardware) {
  const std::map<std::string, Golden> kernels = golden();
  ASSERT_GT(kernels.size(), 100u);
  ASSERT_EQ(assembled().failure, "");
  for (const auto& [name, known] : kernels) {
    const TestRun done = run(name);
    ASSERT_EQ(done.refusal, "") << name;
    EXPECT_EQ(done.trap().empty(), known.ends) << name << ": " << done.trap();
  }
}

TEST(Parting, WaitsForWhomHardwareWaits) {
  for (const auto& [name, known] : golden()) {
    if (!known.ends) continue;
    const TestRun done = run(name);
    if (!done.trap().empty()) continue;  // the test above says so
    const Words log = done.buffer<std::uint32_t>(0);
    for (std::size_t k = 0; k < points; ++k) {
      const auto found = known.points.find(k);
      std::size_t nth = 0;
      for (std::size_t t = 0; t < threads; ++t) {
        const std::uint32_t* at = log.data() + (k * threads + t) * words;
        const bool passes = found != known.points.end() && found->second.threads.contains(t);
        ASSERT_EQ(at[passed_at] != 0, passes) << name << ", point " << k << ", thread " << t;
        if (!passes) continue;
        const Golden::Point& point = found->second;
        if (!point.answers.empty()) {
          EXPECT_EQ(static_cast<int>(at[answer_at]), point.answers.at(nth++))
              << name << ", point " << k << ", thread " << t;
        }
        if (k == points - 1) continue;  // the end, which nobody waits for
        // Exchanges wait for lanes of their own warp.
        const bool is_exchange = name.starts_with("m_");
        for (std::size_t i = 0; i < seen_words; ++i) {
          if (is_exchange && i % 3 != t / 32) continue;
          EXPECT_EQ(point.seen[i] & ~at[i], 0u)
              << name << ": thread " << t << " went past point " << k << " before lanes of warp "
              << i % 3 << " had come to point " << i / 3;
        }
      }
    }
  }
}

TEST(Parting, TakesABarrierThatTheMachineCodePredicatesForTheWarps) {
  EXPECT_THAT(run("x_leader_then_bar", false).trap(), HasSubstr("barrier not reached: 1 thread"));
  const TestRun done = run("x_leader_then_bar");
  ASSERT_EQ(done.refusal + done.trap(), "");
  EXPECT_EQ(done.buffer<std::uint32_t>(0).at(95 * words + answer_at), 42u);
}

TEST(Parting, MakesCountsApproximate) {
  const TestRun parted = run("s_reduce"), whole = run("b_all");
  ASSERT_EQ(parted.refusal + parted.trap() + whole.refusal + whole.trap(), "");
  EXPECT_TRUE(parted_at(parted.program, parted.outcome).has_value());
  EXPECT_FALSE(parted_at(whole.program, whole.outcome).has_value());
  EXPECT_THAT(parted_remark(parted.program, parted.outcome),
              HasSubstr("kernel 's_reduce' comes to a barrier with some threads of a warp only"));
  EXPECT_EQ(parted_remark(whole.program, whole.outcome), "");
  const TestRun exchanging = run("m_warp_loop");
  ASSERT_EQ(exchanging.refusal + exchanging.trap(), "");
  EXPECT_THAT(parted_remark(exchanging.program, exchanging.outcome), HasSubstr("an exchange"));
}

TEST(Parting, NamesThoseWhoWaitForEver) {
  EXPECT_THAT(run("b_sides").trap(),
              HasSubstr("barrier not reached: 16 threads of a warp of kernel "
                        "'b_sides' are at a barrier that the others of the "
                        "warp do not come to"));
  EXPECT_THAT(
      run("x_syncwarp_then_shfl").trap(),
      HasSubstr("threads missing: 16 threads of a warp of kernel 'x_syncwarp_then_shfl' wait "
                "for others of the warp that the mask names"));
}

}  // namespace
}  // namespace warpmeter::model::parting
