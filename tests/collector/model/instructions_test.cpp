// Every instruction against what a GPU answered, on every unit that this processor runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iostream>

#include "collector/model/machine/execute/units.h"
#include "tests/collector/model/instruction_kernel.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

const std::vector<InstructionCase>& cases() {
  static const std::vector<InstructionCase> all = [] {
    std::vector<InstructionCase> read;
    for (const char* name : {"h200_instructions.txt", "h200_narrow_instructions.txt"}) {
      std::ifstream file(source_dir() + "/tests/collector/model/data/" + name);
      const std::vector<InstructionCase> more = read_cases(file);
      read.insert(read.end(), more.begin(), more.end());
    }
    return read;
  }();
  return all;
}

unsigned bits_of(const std::string& type) {
  return type == "pred" ? 32 : static_cast<unsigned>(std::stoul(type.substr(1)));
}

/// Which NaN it is is not modelled where an f64 instruction has two of them for operands, or a
/// number of 64 bits, or of tf32, becomes a narrow one.
bool are_nans(const InstructionCase& a_case, std::uint64_t a, std::uint64_t b) {
  const auto is = [&](const char* text) { return a_case.body.find(text) != std::string::npos; };
  const auto both = [&](std::uint64_t infinity, std::uint64_t magnitude) {
    return (a & magnitude) > infinity && (b & magnitude) > infinity;
  };
  if (a_case.result == "b64" && a_case.operands.size() > 1 && is(".f64")) {
    return both(0x7ff0000000000000, 0x7fffffffffffffff);
  }
  if (is(".bf16.f64")) return both(0x7f80, 0x7fff);
  if (is(".f16.f64")) return both(0x7c00, 0x7fff);
  return is(".tf32.f32") && both(0x7f800000, 0x7fffffff);
}

template <class T, class Bits>
T as(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<Bits>(bits));
}
double half(std::uint64_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1, fraction = static_cast<double>(bits & 0x3ff);
  const int exponent = static_cast<int>(bits >> 10 & 31);
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

/// The numbers in a result of an approximate instruction, and how near they have to be: to the
/// hardware's last digits but a few.
struct Approximation {
  std::vector<double> numbers;
  double tolerance = 0;
};
Approximation approximation(const InstructionCase& a_case, std::uint64_t bits) {
  const auto is = [&](const char* text) { return a_case.body.find(text) != std::string::npos; };
  if (is("bf16x2"))
    return {{as<float, std::uint32_t>(bits << 16), as<float, std::uint32_t>(bits & 0xffff0000)},
            0x1p-7};
  if (is("bf16")) return {{as<float, std::uint32_t>(bits << 16)}, 0x1p-7};
  if (is("f16x2")) return {{half(bits & 0xffff), half(bits >> 16 & 0xffff)}, 0x1p-9};
  if (is("f16")) return {{half(bits & 0xffff)}, 0x1p-9};
  if (is("f64")) return {{as<double, std::uint64_t>(bits)}, 0x1p-19};
  return {{as<float, std::uint32_t>(bits)}, is("tanh") ? 0x1p-10 : 0x1p-20};
}
bool are_near(const InstructionCase& a_case, std::uint64_t a, std::uint64_t b) {
  const Approximation x = approximation(a_case, a), y = approximation(a_case, b);
  for (std::size_t i = 0; i < x.numbers.size(); ++i) {
    const double wanted = y.numbers[i], error = std::abs(x.numbers[i] - wanted);
    if (std::isnan(wanted)
            ? !std::isnan(x.numbers[i])
            : x.numbers[i] != wanted && !(error <= x.tolerance * std::max(1.0, std::abs(wanted)))) {
      return false;
    }
  }
  return true;
}

void expect_recorded_results(const Unit& unit, bool as_machine_code = false) {
  if (!unit.is_supported) GTEST_SKIP() << "this processor has no " << unit.name;
  LaunchOptions options;
  options.unit = &unit;
  if (as_machine_code) {
    if (unit.vector_bytes == 0) GTEST_SKIP() << "no machine code for " << unit.name;
    options.counts = false;
    options.native_after = 0;
  }
  for (const InstructionCase& a_case : cases()) {
    std::vector<TestArgument> arguments = {TestArgument::buffer(std::vector<std::uint64_t>(32))};
    for (const auto& values : a_case.values) {
      arguments.push_back(
          TestArgument::buffer(std::vector<std::uint64_t>(values.begin(), values.end())));
    }
    const TestRun run =
        run_ptx(instruction_kernel(a_case), "instruction", geometry(1, 32), arguments, options);
    EXPECT_EQ(run.refusal + run.trap(), "") << a_case.body;
    if (!(run.refusal + run.trap()).empty()) continue;
    const std::vector<std::uint64_t> results = run.buffer<std::uint64_t>(0);
    const std::uint64_t mask = bits_of(a_case.result) == 64
                                   ? ~std::uint64_t{0}
                                   : (std::uint64_t{1} << bits_of(a_case.result)) - 1;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (are_nans(a_case, results[lane], a_case.expected[lane])) continue;
      if (a_case.is_near && are_near(a_case, results[lane], a_case.expected[lane])) continue;
      std::ostringstream operands;
      for (const auto& values : a_case.values) operands << std::hex << ' ' << values[lane];
      EXPECT_EQ(results[lane] & mask, a_case.expected[lane] & mask)
          << a_case.body << " lane " << lane << " of" << operands.str() << std::hex << ": model "
          << (results[lane] & mask) << ", GPU " << (a_case.expected[lane] & mask);
    }
  }
}

TEST(Instructions, HaveCases) { EXPECT_GT(cases().size(), 1300u); }

TEST(Instructions, GiveWhatAGpuGivesOnPlainProcessors) { expect_recorded_results(units()[0]); }

TEST(Instructions, GiveWhatAGpuGivesWithAvx2) {
  if (units().size() < 2) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_results(units()[1]);
}

TEST(Instructions, GiveWhatAGpuGivesWithAvx512) {
  if (units().size() < 3) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_results(units()[2]);
}

TEST(Instructions, GiveWhatAGpuGivesAsMachineCode) { expect_recorded_results(best_unit(), true); }

}  // namespace
}  // namespace warpmeter::model
