// SPDX-License-Identifier: MIT
#include "collector/model/counts/executed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/instruction_counts.h"
#include "schema/catalogue.h"

namespace warpmeter::model {
namespace {

constexpr std::string_view warp_instructions = "warp_instructions",
                           thread_instructions = "thread_instructions";
constexpr std::string_view guard_reason =
    "guards of the machine code depend on values that are not worked out";
constexpr std::string_view instruction_reason =
    "PTX instructions: machine code executes another number of them";

}  // namespace

bool is_of_instructions(std::string_view counter) {
  return counter == warp_instructions || counter == thread_instructions;
}

double number_of_instructions(std::string_view counter, const LaunchOutcome& outcome) {
  const bool is_of_warps = counter == warp_instructions;
  const bool is_followed = outcome.executions && outcome.executions->doubt.empty();
  const std::uint64_t of_ptx =
      is_of_warps ? outcome.warp_instructions : outcome.thread_instructions;
  if (!is_followed) return static_cast<double>(of_ptx);
  return static_cast<double>(is_of_warps ? outcome.executions->warps()
                                         : outcome.executions->threads());
}

schema::Counter count_instructions(std::string_view name, const Program& program,
                                   const LaunchOutcome& outcome) {
  const bool is_of_warps = name == warp_instructions;
  schema::Counter result;
  result.name = name;
  result.value = number_of_instructions(name, outcome);
  result.grade = schema::Grade::ptx;
  result.reason = instruction_reason;
  if (!outcome.executions) return result;
  const Executions& executions = *outcome.executions;
  if (!executions.doubt.empty()) {
    result.reason += fmt::format(", and {}", executions.doubt);
    return result;
  }
  const SiteGrade grade = grade_without_access(program);
  result.grade = grade.grade;
  result.reason = grade.reason;
  std::string_view doubt = executions.time_doubt;
  if (doubt.empty() && !is_of_warps && executions.threads_vary()) doubt = crowd_reason;
  if (doubt.empty() || result.grade > schema::Grade::modelled) return result;
  result.grade = schema::Grade::modelled;
  result.reason = doubt;
  return result;
}

std::optional<sass::MachineExecutions> followed_executions(const Program& program,
                                                           const LaunchOutcome& outcome) {
  if (!outcome.executions) return std::nullopt;
  const Executions& executions = *outcome.executions;
  const bool is_known = executions.doubt.empty() && executions.time_doubt.empty() &&
                        executions.of.size() == program.machine_operations.size();
  if (!is_known) return std::nullopt;
  sass::MachineExecutions result;
  for (std::size_t i = 0; i < executions.of.size(); ++i) {
    const Execution& one = executions.of[i];
    sass::Executions& all = result.of.emplace_back();
    all.warps = one.warps + one.warps_again;
    all.threads = one.threads;
    all.threads_on = one.passed.value_or(0);
    all.threads_again = one.threads_again;
    all.threads_vary = one.threads_vary;
    all.knows_warps = all.knows_threads = true;
    all.threads_acting = one.acted.value_or(0);
    all.knows_threads_on = one.passed.has_value();
    all.knows_threads_acting = one.acted.has_value();
    all.parted = one.parted;
    all.knows_parted = true;
    if (!all.knows_threads_on || !all.knows_threads_acting) result.reason = guard_reason;
  }
  return result;
}

std::vector<schema::InstructionCount> instruction_counts(const Program& program,
                                                         const LaunchOutcome& outcome) {
  constexpr std::uint64_t instruction_bytes = 16;  // since compute capability 7.0
  const auto followed = followed_executions(program, outcome);
  std::vector<schema::InstructionCount> counts;
  if (!followed) return counts;
  for (std::size_t i = 0; i < followed->of.size(); ++i) {
    const sass::Executions& one = followed->of[i];
    if (one.knows_warps) counts.push_back({i * instruction_bytes, "executed", one.warps});
  }
  return counts;
}

bool counts_machine_code(const std::vector<std::string>& counters) {
  static const auto of_machine_code = [] {
    std::unordered_set<std::string_view> names;
    for (const schema::CounterInfo& info : schema::Catalogue::get().counters()) {
      if (!is_of_instructions(info.name) && !is_instruction_counter(info.name)) continue;
      names.insert({info.name, info.perfworks});
    }
    return names;
  }();
  return std::any_of(counters.begin(), counters.end(),
                     [](const std::string& name) { return of_machine_code.contains(name); });
}

}  // namespace warpmeter::model
