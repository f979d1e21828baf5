// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "collector/model/counts/sass/function_accesses.h"
#include "collector/model/counts/sass/judge.h"
#include "collector/model/ptx/row.h"

namespace warpmeter::model::sass {
namespace {

constexpr std::string_view not_judged =
    "counted at PTX level: the machine code of this instruction is not read";

/// Why the code was not assembled from the module's text.
std::string mismatch(const ptx::Function& function, const MachineCode& code) {
  for (const ptx::Instruction& instruction : function.body) {
    if (instruction.row().effects.memory == ptx::Memory::none) continue;
    const auto line = static_cast<std::size_t>(instruction.line);
    if (line > code.ptx.size() ||
        code.ptx[line - 1].find(instruction.text) == std::string_view::npos) {
      return fmt::format(
          "was not assembled from this PTX: line {} of its PTX has no '{}'; assemble it anew with "
          "ptxas -lineinfo",
          line, instruction.text);
    }
  }
  return {};
}

bool is_counted(const SiteInfo& site) {
  const bool has_own_counters = site.carrier == Carrier::bulk || site.carrier == Carrier::counted;
  return (!site.is_apart || has_own_counters) && site.carrier != Carrier::product &&
         (site.space == AddressSpace::shared || site.space == AddressSpace::global ||
          site.space == AddressSpace::generic);
}

/// True for a change of a tensor's descriptor, which is loads and stores. ptxas joins those of
/// neighbours, so that they are not judged.
bool changes_map(const ptx::Instruction& instruction) {
  const ptx::Execution execution = instruction.row().execution;
  return execution == ptx::Execution::replace_field || execution == ptx::Execution::publish_map;
}

/// Machine accesses that nothing in the PTX explains: they would be missing from the counts.
std::vector<StrayAccess> strays_of(const MachineCode& code,
                                   const std::map<int, std::vector<PtxAccess>>& ptx_on_line,
                                   const std::set<int>& lines_of_maps) {
  std::vector<StrayAccess> strays;
  for (const MachineAccess& machine : code.accesses) {
    if (lines_of_maps.contains(machine.line)) continue;
    const AccessKind kind = *machine.instruction.access;
    const Carrier carrier = machine.instruction.carrier;
    const auto there = ptx_on_line.find(machine.line);
    const bool is_explained =
        there != ptx_on_line.end() &&
        std::any_of(there->second.begin(), there->second.end(), [&](const PtxAccess& ptx) {
          // A copy of no bytes is a store of zeros.
          if (carrier == Carrier::registers && ptx.carrier == Carrier::copy) return true;
          const bool is_plain = carrier == Carrier::registers && ptx.carrier == carrier;
          if (!is_plain) return carrier == ptx.carrier && ptx.kind == kind;
          return same_kind(ptx.kind, kind) || is_atomic(ptx.kind);
        });
    if (!is_explained) strays.push_back({kind, machine.instruction.space, carrier});
  }
  return strays;
}

/// In functions that call themselves, or that pointers lead to, lanes that part do not all meet
/// again where they do in PTX.
void keep_bodies_together(Program& program) {
  std::vector<std::uint32_t> instructions;
  for (const FunctionCode& function : program.functions) {
    for (std::uint32_t i = function.first; i < function.end; ++i) {
      instructions.push_back(program.operations[i].instruction);
    }
  }
  for (SiteInfo& site : program.sites) {
    site.together.insert(site.together.end(), instructions.begin(), instructions.end());
  }
}

/// A count behind such a way out is certain only where no warp parts there. Behind: later in the
/// text, or anywhere where an outer loop may go round.
void keep_together_behind(Program& program, const OpenExit& exit, std::uint32_t branch) {
  for (SiteInfo& site : program.sites) {
    if (exit.is_nested || site.instruction > branch) site.together.push_back(branch);
  }
}

}  // namespace

std::vector<std::uint32_t> predicated_barriers(const Program& program, const MachineCode& code) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t barrier : program.barriers) {
    const int line = program.places[barrier].ptx_line;
    const auto number = static_cast<std::size_t>(line);
    const bool is_same_text = number > 0 && number <= code.ptx.size() &&
                              code.ptx[number - 1].find("bar") != std::string_view::npos;
    if (!is_same_text) continue;
    bool is_there = false, is_predicated = true;  // each of its copies
    for (const MachineBarrier& machine : code.barriers) {
      if (machine.line != line) continue;
      is_there = true;
      is_predicated = is_predicated && machine.is_predicated;
    }
    if (is_there && is_predicated) found.push_back(barrier);
  }
  return found;
}

std::string audit(Program& program, const ptx::Module& module, const MachineCode& code) {
  if (code.arch != program.arch) {
    return fmt::format(
        "is machine code of sm_{}, and the PTX is of sm_{}; assemble it with ptxas "
        "-arch=sm_{} -lineinfo",
        code.arch, program.arch, program.arch);
  }
  std::map<int, std::vector<const MachineAccess*>> on_line;
  for (const MachineAccess& access : code.accesses) on_line[access.line].push_back(&access);

  std::unordered_map<int, std::pair<const ptx::Function*, Verdict>> verdicts;  // by PTX line
  std::map<int, std::vector<PtxAccess>> ptx_on_line;
  std::set<int> lines_of_maps;
  for (const ptx::Function& function : module.functions) {
    // The library's machine code has no lines of this PTX: its accesses are not judged.
    if (function.is_declaration || function.is_of_library) continue;
    if (function.is_entry && function.name != program.kernel) continue;
    if (std::string wrong = mismatch(function, code); !wrong.empty()) return wrong;
    for (const ptx::Instruction& instruction : function.body) {
      if (changes_map(instruction)) lines_of_maps.insert(instruction.line);
    }
    const auto accesses = FunctionAccesses::of(function);
    if (!accesses) continue;
    std::vector<Verdict> judged = Judge(*accesses, code, on_line).judge();
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const PtxAccess& access = accesses->accesses()[i];
      ptx_on_line[access.line].push_back(access);
      verdicts.emplace(access.line, std::pair{&function, std::move(judged[i])});
    }
  }

  program.strays = strays_of(code, ptx_on_line, lines_of_maps);
  const auto has_strays = [&](const SiteInfo& site) {
    return std::any_of(program.strays.begin(), program.strays.end(), [&](const StrayAccess& stray) {
      return same_kind(stray.kind, site.kind) && same_space(stray.space, site.space) &&
             stray.carrier == site.carrier;
    });
  };
  std::unordered_multimap<int, std::uint32_t> on_ptx_line;
  for (std::uint32_t i = 0; i < program.places.size(); ++i) {
    on_ptx_line.emplace(program.places[i].ptx_line, i);
  }

  for (SiteInfo& site : program.sites) {
    const auto found = verdicts.find(program.places[site.instruction].ptx_line);
    if (found == verdicts.end()) {
      if (is_counted(site)) site.doubt = not_judged;
      continue;
    }
    // The barrier object that an instruction tells of its bytes is none of the accesses judged.
    if (site.is_apart && site.carrier == Carrier::registers) continue;
    const Verdict& verdict = found->second.second;
    site.doubt = verdict.doubt;
    if (site.doubt.empty() && has_strays(site)) site.doubt = stray_accesses;
    if (!site.doubt.empty()) continue;
    if (is_atomic(site.kind)) site.kind = verdict.kind;
    site.retries = verdict.retries;
    site.counts_lanes = verdict.counts_lanes;
    site.counts_left_out = verdict.counts_left_out;
    for (const int line : verdict.together) {
      const auto [first, last] = on_ptx_line.equal_range(line);
      for (auto at = first; at != last; ++at) site.together.push_back(at->second);
    }
    // A copy in bulk counts its own accesses.
    if (verdict.requests && site.carrier != Carrier::bulk) site.requests = *verdict.requests;
  }
  for (const OpenExit& exit : code.open_exits) {
    const auto [first, last] = on_ptx_line.equal_range(exit.line);
    for (auto at = first; at != last; ++at) keep_together_behind(program, exit, at->second);
  }
  if (program.has_calls) keep_bodies_together(program);
  program.predicated_barriers = predicated_barriers(program, code);
  std::set<int> lines_of_arrays;  // in local memory
  for (const SiteInfo& site : program.sites) {
    if (site.space != AddressSpace::local) continue;
    lines_of_arrays.insert(program.places[site.instruction].ptx_line);
  }
  program.spills.clear();
  for (const int line : code.local_lines) {
    if (lines_of_arrays.contains(line)) continue;
    const auto [first, last] = on_ptx_line.equal_range(line);
    for (auto at = first; at != last; ++at) program.spills.push_back(at->second);
  }
  program.machine_operations = code.operations;
  program.calls_elsewhere = code.calls_elsewhere;
  program.is_straight = code.is_straight;
  program.yields = code.yields;
  program.why_unaudited.clear();
  program.resources = code.resources;
  return {};
}

std::string audit(Program& program, const ptx::Module& module, Bytes cubin) {
  auto read = read_machine_code(cubin, program.kernel);
  if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
  return audit(program, module, std::get<MachineCode>(read));
}

}  // namespace warpmeter::model::sass
