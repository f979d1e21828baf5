// SPDX-License-Identifier: MIT
// Runs every case on the GPU and on the model, on the same input, and says where they disagree.
//
//   model_check [--golden FILE.csv] [--table FILE.md]
//
// --golden writes what the hardware answered, for the test that has no GPU; --table writes the
// table of agreement. Exit code: 0 when outputs and every value that the model calls exact agree,
// and at least 95 % of the counts of accesses and 70 % of those of instructions are called so; 1
// otherwise; 4 without a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/error.h"
#include "collector/cupti/backend.h"
#include "collector/model/session/backend.h"
#include "tests/device/model/agreement.h"

namespace {

using namespace warpmeter;
using namespace warpmeter::agreement;

struct Tally {
  int values = 0, exact = 0, equal = 0, exact_but_different = 0;
  int not_zero = 0, not_zero_exact = 0;
  int instructions = 0, instructions_exact = 0;  ///< the counts of instructions among the values
};

struct Files {
  std::ofstream golden, table;
};

std::string golden_heading() {
  std::string text = "kernel,checksum";
  for (const std::string& name : counter_names()) text += "," + name;
  return text + "\n";
}

std::string golden_row(const Case& which, const Answer& hardware) {
  std::string text = fmt::format("{},{:016x}", which.entry, checksum(which, hardware));
  for (const std::string& name : counter_names()) {
    text += fmt::format(",{:.0f}", hardware.counters.at(name).value.value_or(-1));
  }
  return text + "\n";
}

/// One case on both; false when something that must agree does not.
bool check(run::Backend& gpu, run::Backend& cpu, const Case& which, Tally& total, Files& files) {
  const Answer hardware = ask(gpu, which), model = ask(cpu, which);
  if (!hardware.failure.empty() || !model.failure.empty()) {
    fmt::print("FAILS  {:20} hardware: {}; model: {}\n", which.entry,
               hardware.failure.empty() ? "ran" : hardware.failure,
               model.failure.empty() ? "ran" : model.failure);
    if (hardware.failure.empty()) files.golden << golden_row(which, hardware);
    return false;
  }
  files.golden << golden_row(which, hardware);
  const double apart = difference(which, hardware, model);
  Tally tally;
  std::string remarks;
  for (const std::string& name : counter_names()) {
    const schema::Counter &measured = hardware.counters.at(name), &ours = model.counters.at(name);
    ++tally.values;
    const bool is_exact = ours.grade == schema::Grade::exact;
    // A counter of the hardware that adds something to what it counts says so itself.
    const bool adds = measured.grade != schema::Grade::measured;
    const bool is_equal = measured.value && ours.value &&
                          (adds ? *ours.value <= *measured.value : *ours.value == *measured.value);
    tally.exact += is_exact;
    const bool counts_instructions = name.ends_with("_instructions");
    tally.instructions += counts_instructions;
    tally.instructions_exact += counts_instructions && is_exact;
    tally.equal += is_equal;
    const bool is_zero = measured.value == 0.0 && ours.value == 0.0;
    tally.not_zero += !is_zero;
    tally.not_zero_exact += !is_zero && is_exact;
    tally.exact_but_different += is_exact && !is_equal;
    if (is_exact && is_equal) continue;
    if (!remarks.empty()) remarks += "; ";
    remarks += fmt::format("{} {} ({}), hardware {}", name, ours.value.value_or(-1),
                           schema::to_string(ours.grade), measured.value.value_or(-1));
  }
  const bool holds = apart <= which.tolerance && tally.exact_but_different == 0;
  const std::string outputs = apart == 0                 ? "equal"
                              : apart <= which.tolerance ? fmt::format("within {:.0e}", apart)
                                                         : "DIFFERENT";
  fmt::print("{}  {:20} outputs {}; {} values, {} exact, {} equal{}{}\n", holds ? "ok   " : "FAILS",
             which.entry, outputs, tally.values, tally.exact, tally.equal,
             remarks.empty() ? "" : ": ", remarks);
  files.table << fmt::format("| {:<20} | {:<13} | {:>6} | {:>5} | {:>5} | {} |\n", which.entry,
                             outputs, tally.values, tally.exact, tally.equal, remarks);
  total.values += tally.values;
  total.exact += tally.exact;
  total.equal += tally.equal;
  total.exact_but_different += tally.exact_but_different;
  total.instructions += tally.instructions;
  total.instructions_exact += tally.instructions_exact;
  total.not_zero += tally.not_zero;
  total.not_zero_exact += tally.not_zero_exact;
  return holds;
}

int check_all(Files files) {
  const auto gpu = cupti::open();
  const auto cpu = model::open();
  gpu->select(counter_names());
  cpu->select(counter_names());
  files.golden << golden_heading();
  files.table
      << "| kernel               | outputs       | values | exact | equal | what is not exact "
         "and equal |\n"
      << "|----------------------|---------------|-------:|------:|------:|-------------------"
         "----------|\n";
  Tally total;
  int held = 0;
  for (const Case& which : cases()) held += check(*gpu, *cpu, which, total, files);
  const auto all = static_cast<int>(cases().size());
  const double share = 100.0 * total.exact / total.values;
  const std::string sum = fmt::format(
      "{} of {} kernels agree on {}; {} values, {} ({:.1f} %) called exact, of which {} differ; {} "
      "equal; of the {} values that are not zero, {} ({:.1f} %) are called exact",
      held, all, gpu->device().name, total.values, total.exact, share, total.exact_but_different,
      total.equal, total.not_zero, total.not_zero_exact,
      100.0 * total.not_zero_exact / std::max(total.not_zero, 1));
  files.table << "\n" << sum << "\n";
  fmt::print("{}\n", sum);
  const int accesses = total.values - total.instructions;
  const bool enough_is_exact = total.exact - total.instructions_exact >= 0.95 * accesses &&
                               total.instructions_exact >= 0.7 * total.instructions;
  return held == all && enough_is_exact ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Files files;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--golden") files.golden.open(argv[i + 1]);
    if (option == "--table") files.table.open(argv[i + 1]);
  }
  try {
    return check_all(std::move(files));
  } catch (const warpmeter::Error& error) {
    fmt::print(stderr, "model_check: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
