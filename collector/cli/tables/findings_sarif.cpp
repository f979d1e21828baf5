// SPDX-License-Identifier: MIT
#include "collector/cli/tables/findings_sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "collector/model/check/findings.h"

namespace warpmeter::cli {
namespace {

using model::check::Defect;

struct RuleOfKind {
  std::string_view name, text, help;
};

struct RuleOfDefect {
  Defect defect;
  std::string_view text, help;
};

/// One for each name of a Defect.
constexpr RuleOfDefect of_kernels[] = {
    {Defect::out_of_bounds, "Each access lies within its buffer or array.",
     "Compare the index with the size before the access."},
    {Defect::misaligned, "Each access lies at a multiple of its width.",
     "Let the address be a multiple of 2, 4, 8 or 16 bytes, as the type asks."},
    {Defect::uninitialised, "Each value is set before it is used.",
     "Set the memory or variable on every path that leads to the read."},
    {Defect::race, "Accesses of several threads to one place of shared memory are ordered.",
     "Put __syncthreads() or __syncwarp() between the two, or use an atomic for both."},
    {Defect::global_race, "Accesses of a block's threads to one place of memory are ordered.",
     "Put __syncthreads() between the two, or use an atomic for both."},
    {Defect::block_race, "Accesses of several blocks to one place of memory are ordered.",
     "Blocks run in any order: use an atomic for both, or a second kernel."},
    {Defect::equal_writes, "No two threads write to one place without an order.",
     "Both wrote the same, so this is no mistake by itself. Other input may write two values."},
    {Defect::barrier, "All threads of a block come to the same barrier.",
     "Take the barrier out of the branch, or let all threads take the branch."},
    {Defect::absent_lanes, "Each lane that a mask of a _sync function names takes part.",
     "Build the mask from the lanes that come there: __ballot_sync() before the branch."},
    {Defect::trap, "The kernel comes to its end.",
     "The message names the instruction that stopped it."}};

constexpr RuleOfKind of_host[] = {
    {"host access", "Host code touches no memory of the device.",
     "Copy the data to the host first, or use managed memory and wait for the kernel."},
    {"race between streams", "Work of two streams on one place of memory is ordered.",
     "Let one stream wait for the other by an event."},
    {"race with the host", "Host code waits before it uses what the device may still use.",
     "Wait for the stream or the device before the access."},
    {"lost output", "Output of kernels is shown before the program ends.",
     "Wait for the device before the program ends."},
    {"leak", "Memory that was allocated is freed.", "Free it at the end."},
    {"double free", "Memory is freed once.", "Leave the second call out."},
    {"invalid free", "Only memory that was allocated is freed.",
     "Pass the address that the allocation returned."},
    {"failed call", "Calls of CUDA succeed.", "The message says which argument is wrong."},
    {"failed launch", "Launches succeed.", "The message says why it failed."},
    {"ignored error", "The program asks whether its launches failed.",
     "Look at what cudaGetLastError() returns after the launch."}};

std::string id_of(std::string_view kind) {
  std::string id(kind);
  std::replace(id.begin(), id.end(), ' ', '-');
  return id;
}

reports::SarifRule rule_of(const RuleOfKind& kind) {
  const bool is_remark = kind.name == to_string(Defect::equal_writes);
  return {id_of(kind.name), std::string(kind.text), std::string(kind.help),
          is_remark ? reports::SarifLevel::note : reports::SarifLevel::error};
}

/// "reduce.cu:12" as a place; nullopt for a function's name, or a line of the PTX.
std::optional<reports::SarifPlace> place_named(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  reports::SarifPlace place{std::string(text.substr(0, colon)), 0, ""};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, place.line);
  if (error != std::errc() || last != end || place.line <= 0) return std::nullopt;
  return place;
}

reports::SarifResult result_of(const ShownFinding& finding) {
  reports::SarifResult result;
  result.rule = id_of(finding.finding);
  result.level = finding.is_remark ? reports::SarifLevel::note : reports::SarifLevel::error;
  result.message = finding.message;
  result.function = finding.launch;
  if (const auto place = place_named(finding.place)) {
    result.place = *place;
  } else if (result.function.empty()) {
    result.function = finding.place;
  }
  if (auto other = place_named(finding.other)) {
    other->title = fmt::format("line {}", other->line);
    result.related.push_back(*other);
  }
  return result;
}

}  // namespace

reports::SarifLog findings_sarif(std::span<const ShownFinding> findings, bool is_program) {
  reports::SarifLog log;
  for (const RuleOfDefect& rule : of_kernels) {
    log.rules.push_back(rule_of({to_string(rule.defect), rule.text, rule.help}));
  }
  if (is_program) {
    for (const RuleOfKind& kind : of_host) log.rules.push_back(rule_of(kind));
  }
  for (const ShownFinding& finding : findings) {
    log.results.push_back(result_of(finding));
    const std::string& id = log.results.back().rule;
    const bool is_known =
        std::any_of(log.rules.begin(), log.rules.end(),
                    [&](const reports::SarifRule& rule) { return rule.id == id; });
    if (is_known) continue;
    log.rules.push_back(rule_of({finding.finding, "The program makes no mistake of this kind.",
                                 "The message says what happened, and what to do."}));
  }
  return log;
}

}  // namespace warpmeter::cli
