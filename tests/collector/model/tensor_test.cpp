// SPDX-License-Identifier: MIT
// Products of matrices and what wmma moves, held to what an H100 answered: tests/golden/matrix,
// whose README says how it was recorded.
#include <gtest/gtest.h>

#include <fstream>

#include "collector/model/counts/grades.h"
#include "tests/collector/model/matrix_inputs.h"
#include "tests/collector/model/matrix_kernels.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model::tensor {
namespace {

using Words = std::vector<std::uint32_t>;

std::vector<std::vector<std::string>> golden(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/golden/matrix/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::istringstream stream(line + ',');
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    rows.push_back(std::move(fields));
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

unsigned number(const std::string& text) { return static_cast<unsigned>(std::stoul(text)); }

/// FNV-1a over words.
class Hash {
 public:
  void add(std::uint32_t word) { value_ = (value_ ^ word) * 0x100000001b3u; }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// The results of the trials for each kind of operand. `first`: the column of the first kind.
void expect_results(const std::vector<std::string>& row, std::size_t first, const Words& results,
                    std::size_t trials) {
  const std::size_t each = results.size() / trials;
  for (std::size_t kind = 0; kind < matrix_inputs::class_count; ++kind) {
    Hash hash;
    for (std::size_t trial = kind; trial < trials; trial += matrix_inputs::class_count) {
      for (std::size_t i = 0; i < each; ++i) hash.add(results[trial * each + i]);
    }
    EXPECT_EQ(hash.text(), row.at(first + kind)) << row[0] << ", operands of kind " << kind;
  }
}

TEST(Tensor, ProductsOfRegistersAreThoseOfHardware) {
  constexpr std::size_t trials = 96;
  for (const auto& row : golden("products.csv")) {
    std::vector<matrix_kernels::Operand> operands;
    std::size_t inputs = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      operands.push_back({row.at(1 + 2 * i), number(row.at(2 + 2 * i))});
      if (i < 3) inputs += 32 * operands.back().words;
    }
    Words in(trials * inputs);
    for (std::size_t trial = 0; trial < trials; ++trial) {
      std::uint32_t* to = &in[trial * inputs];
      for (int i = 0; i < 3; ++i) {
        const std::size_t count = 32 * operands[static_cast<std::size_t>(i)].words;
        matrix_inputs::fill(to, count, operands[static_cast<std::size_t>(i)].type, operands[0].type,
                            i, static_cast<int>(trial % matrix_inputs::class_count), trial);
        to += count;
      }
    }
    const TestRun run = run_ptx(
        matrix_kernels::product_kernel(row[0], operands), "k", geometry(trials, 32),
        {TestArgument::buffer(in), TestArgument::buffer(Words(trials * 32 * operands[3].words))});
    ASSERT_EQ(run.refusal + run.trap(), "") << row[0];
    expect_results(row, 9, run.buffer<std::uint32_t>(1), trials);
  }
}

TEST(Tensor, SparseProductsAreThoseOfHardware) {
  constexpr std::size_t in_order = 96, trials = 120;
  for (const auto& row : golden("sparse_products.csv")) {
    const bool is_tf32 = row.at(2) == "tf32";
    std::vector<matrix_kernels::Operand> operands;
    std::size_t inputs = 32;
    for (std::size_t i = 0; i < 4; ++i) {
      operands.push_back({row.at(2 + 2 * i), number(row.at(3 + 2 * i))});
      if (i < 3) inputs += 32 * operands.back().words;
    }
    Words in(trials * inputs);
    for (std::size_t trial = 0; trial < trials; ++trial) {
      std::uint32_t* to = &in[trial * inputs];
      const bool is_any = trial >= in_order;
      const int kind = is_any ? 1 : static_cast<int>(trial % matrix_inputs::class_count);
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t count = 32 * operands[i].words;
        matrix_inputs::fill(to, count, operands[i].type, operands[0].type, static_cast<int>(i),
                            kind, trial);
        to += count;
      }
      matrix_inputs::Numbers numbers(trial * 3 + 1000007);
      for (int l = 0; l < 32; ++l) to[l] = matrix_inputs::metadata(numbers, is_tf32, is_any);
    }
    const TestRun run = run_ptx(
        matrix_kernels::product_kernel(row[0], operands, row.at(1)), "k", geometry(trials, 32),
        {TestArgument::buffer(in), TestArgument::buffer(Words(trials * 32 * operands[3].words))});
    ASSERT_EQ(run.refusal + run.trap(), "") << row[0];
    Words results = run.buffer<std::uint32_t>(1);
    const std::size_t each = 32 * operands[3].words;
    // PTX does not define tf32's use of such metadata.
    if (!is_tf32) {
      Hash hash;
      for (std::size_t i = in_order * each; i < results.size(); ++i) hash.add(results[i]);
      EXPECT_EQ(hash.text(), row.at(22)) << row[0] << ", any metadata";
    }
    results.resize(in_order * each);
    expect_results(row, 10, results, in_order);
  }
}

TEST(Tensor, WmmaMultipliesAsHardwareDoes) {
  constexpr std::size_t trials = 24;
  for (const auto& row : golden("wmma_products.csv")) {
    const std::string types[] = {row.at(1), row.at(1), row.at(4)};
    const std::size_t words[] = {number(row.at(2)) / 4, number(row.at(3)) / 4,
                                 number(row.at(5)) / 4, number(row.at(6)) / 4};
    std::vector<TestArgument> arguments;
    for (std::size_t i = 0; i < 3; ++i) {
      Words in(trials * words[i]);
      for (std::size_t trial = 0; trial < trials; ++trial) {
        matrix_inputs::fill(&in[trial * words[i]], words[i], types[i], types[0],
                            static_cast<int>(i),
                            static_cast<int>(trial % matrix_inputs::class_count), trial);
      }
      arguments.push_back(TestArgument::buffer(in));
    }
    arguments.push_back(TestArgument::buffer(Words(trials * words[3])));
    const TestRun run =
        run_ptx(matrix_kernels::whole_product_kernel(row[0]), "k", geometry(trials, 32), arguments);
    ASSERT_EQ(run.refusal + run.trap(), "") << row[0];
    expect_results(row, 7, run.buffer<std::uint32_t>(3), trials);
  }
}

double counter_of(const TestRun& run, std::string_view name) {
  return counter(name, run.program, run.outcome).value.value_or(-1);
}

/// Word i of what is loaded, and of what registers hold before they are stored.
std::uint32_t word(std::size_t i) { return static_cast<std::uint32_t>(i * 2654435761u + 12345u); }

TEST(Tensor, FragmentsLieAndCostAsOnHardware) {
  std::string last;
  for (const auto& row : golden("fragments.csv")) {
    const std::string& text = row[0];
    const unsigned registers = number(row.at(1)), stride = number(row.at(2));
    const bool is_load = text.starts_with("wmma.load");
    const bool is_shared = text.find(".shared") != std::string::npos;
    const bool is_generic = !is_shared && text.find(".global") == std::string::npos;
    const std::string kernel =
        matrix_kernels::fragment_kernel(text, registers, stride, is_shared, is_generic);
    Words in(4096), out(4096, 0xffffffffu);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = word(i);
    const TestRun run = run_ptx(kernel, "k", geometry(1, 32),
                                {TestArgument::buffer(in), TestArgument::buffer(out)});
    ASSERT_EQ(run.refusal + run.trap(), "") << text;
    const std::string direction = is_load ? "load" : "store";
    const std::string& kind = row.at(3);
    const bool in_shared = kind != "global";
    const std::string name = (kind == "matrix" ? "shared_matrix" : kind) + "_" + direction;
    // The kernel itself moves all words, where it fills shared memory or reads it again.
    const bool moves_all = is_shared || is_generic;
    const double around = in_shared || !moves_all ? 0 : 128;
    EXPECT_EQ(counter_of(run, name + "_requests") - around, std::stod(row.at(4)))
        << text << ' ' << stride;
    EXPECT_EQ(counter_of(run, name + (in_shared ? "_wavefronts" : "_sectors")) - 4 * around,
              std::stod(row.at(5)))
        << text << ' ' << stride;
    if (row.size() < 7 || row[6].empty()) continue;
    Hash hash;
    const Words result = run.buffer<std::uint32_t>(1);
    for (std::size_t i = 0; i < std::size_t{32} * registers; ++i) hash.add(result[i]);
    EXPECT_EQ(hash.text(), row[6]) << text;
  }
}

TEST(Tensor, AWholeWarpHasToMultiply) {
  const TestRun run =
      run_ptx(matrix_kernels::entry("  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                    "{%r2, %r3, %r4, %r5}, {%r2, %r3, %r4, %r5}, {%r2, %r3}, "
                                    "{%r2, %r3, %r4};\n",
                                    1),
              "k", geometry(1, 32), {TestArgument::buffer(Words(4))});
  EXPECT_NE(run.refusal.find("another number of registers"), std::string::npos) << run.refusal;
}

TEST(Tensor, WhatIsNotExecutedIsRefusedByName) {
  for (const char* body :
       {"  mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%r2, %r3}, {%r2, %r3, %r4, %r5}, "
        "{%r2, %r3, %r4, %r5}, {%r2, %r3}, %r4, 0x2;\n",
        "  wgmma.mma_async.sp.sync.aligned;\n",
        "  wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 {%d2, %d3}, {%d2}, {%d2}, "
        "{%d2, %d3};\n"}) {
    const TestRun run = run_ptx(matrix_kernels::entry(body, 1), "k", geometry(1, 32),
                                {TestArgument::buffer(Words(4))});
    EXPECT_NE(run.refusal, "") << body;
  }
}

}  // namespace
}  // namespace warpmeter::model::tensor
