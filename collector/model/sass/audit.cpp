// Every PTX access is looked up among the machine's accesses by its line:
//   - machine accesses of its own width: it stands for itself;
//   - wider ones: it leads a group. The other members are accesses of the same block, at known
//     distances, without machine accesses of their own. A wide access is aligned to its width, so
//     the window that it covers is where the leader's address lies;
//   - narrower ones: what of a vector is not used was left out;
//   - none: it was merged into a leader's, or another access had its value already.
// Then the loops around both must be the same, because a load that was taken out of a loop executes
// less often; and between copies of an access no warp may part, which only a run shows.
#include "collector/model/sass/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "collector/model/ptx/opcodes.h"
#include "collector/model/sass/function_accesses.h"

namespace warpmeter::model::sass {
namespace {

constexpr std::string_view not_found =
    "counted at PTX level: no machine instruction was found for this access";
constexpr std::string_view other_widths =
    "counted at PTX level: the machine code has accesses of other widths";
constexpr std::string_view other_loops =
    "counted at PTX level: the machine code has other loops around this access";
constexpr std::string_view unknown_accesses =
    "counted at PTX level: the machine code has accesses that belong to no line of the PTX";
constexpr std::string_view several_on_line =
    "counted at PTX level: several accesses stand on one line of the PTX";
constexpr std::string_view unknown_jumps =
    "counted at PTX level: the machine code jumps to places that are not known";

bool is_atomic(AccessKind kind) {
  return kind == AccessKind::atomic || kind == AccessKind::reduction;
}

bool same_kind(AccessKind a, AccessKind b) { return a == b || (is_atomic(a) && is_atomic(b)); }

bool same_space(AddressSpace a, AddressSpace b) {
  return a == b || a == AddressSpace::generic || b == AddressSpace::generic;
}

/// What became of one PTX access.
struct Verdict {
  std::string_view doubt;
  std::optional<std::vector<Request>> requests;  ///< nothing: as they were
  AccessKind kind = AccessKind::load;
  bool retries = false, counts_lanes = false, drops_result = false;
  bool is_generic = false;    ///< in the machine code as well
  std::vector<int> together;  ///< lines of branches at which no warp may part
};

/// A function's accesses, judged one after the other.
class Judge {
 public:
  Judge(const FunctionAccesses& function, const MachineCode& code,
        const std::map<int, std::vector<const MachineAccess*>>& on_line)
      : function_(function), code_(code), on_line_(on_line) {
    for (const PtxAccess& access : function_.accesses()) found_.push_back(machine_of(access));
    verdicts_.resize(found_.size());
  }

  std::vector<Verdict> judge() {
    share_out();
    for (std::size_t i = 0; i < found_.size(); ++i) judge_alone(i);
    judge_groups();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (is_open(i) && needs_none(i)) verdicts_[i].requests.emplace();
    }
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const PtxAccess& access = function_.accesses()[i];
      if (is_open(i)) verdicts_[i].doubt = found_[i].empty() ? not_found : other_widths;
      if (verdicts_[i].doubt.empty()) verdicts_[i].doubt = doubt_of_flow(i);
      if (verdicts_[i].doubt.empty()) verdicts_[i].together = together(i);
      if (access.shares_line) verdicts_[i].doubt = several_on_line;
    }
    return std::move(verdicts_);
  }

 private:
  using Machine = std::vector<const MachineAccess*>;

  Machine machine_of(const PtxAccess& access) const {
    Machine result;
    const auto found = on_line_.find(access.line);
    if (found == on_line_.end()) return result;
    for (const MachineAccess* machine : found->second) {
      const Instruction& instruction = machine->instruction;
      if (same_kind(*instruction.access, access.kind) &&
          same_space(instruction.space, access.space)) {
        result.push_back(machine);
      }
    }
    return result;
  }

  /// Whether it is clear why no machine instruction does this access.
  bool needs_none(std::size_t i) const {
    return found_[i].empty() &&
           (!function_.accesses()[i].is_used || function_.has_value_already(i));
  }

  /// Not judged yet.
  bool is_open(std::size_t i) const { return !verdicts_[i].requests && verdicts_[i].doubt.empty(); }

  static bool have_width(const Machine& machine, unsigned width) {
    return std::all_of(machine.begin(), machine.end(),
                       [&](const auto* access) { return access->instruction.width == width; });
  }

  /// Accesses that ptxas merged and then took apart again all bear the first one's line. They go to
  /// the neighbours at the same distances.
  void share_out() {
    std::map<GroupKey, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < found_.size(); ++i) groups[function_.group_of(i)].push_back(i);
    for (const auto& [key, members] : groups) {
      for (const std::size_t i : members) {
        const Machine machine = found_[i];
        const bool is_candidate = machine.size() > 1 && machine.size() <= 16 &&
                                  have_width(machine, function_.accesses()[i].width);
        if (!is_candidate) continue;
        for (const MachineAccess* own : machine) {
          if (give_to_neighbours(members, i, *own, machine)) break;
        }
      }
    }
  }

  /// Whether every machine access but `own` has a neighbour without any to go to.
  bool give_to_neighbours(const std::vector<std::size_t>& members, std::size_t i,
                          const MachineAccess& own, const Machine& machine) {
    std::map<std::size_t, Machine> shares;
    for (const MachineAccess* other : machine) {
      const std::int64_t distance = other->instruction.offset - own.instruction.offset;
      const auto heir = std::find_if(members.begin(), members.end(), [&](std::size_t m) {
        return (m == i || found_[m].empty()) &&
               function_.accesses()[m].offset - function_.accesses()[i].offset == distance;
      });
      const bool is_near =
          other->block == own.block && other->instruction.base == own.instruction.base;
      if (is_near && heir != members.end()) shares[*heir].push_back(other);
    }
    if (shares.size() != machine.size()) return false;
    for (auto& [heir, share] : shares) found_[heir] = std::move(share);
    return true;
  }

  void judge_alone(std::size_t i) {
    const PtxAccess& access = function_.accesses()[i];
    const Machine& machine = found_[i];
    Verdict& verdict = verdicts_[i];
    verdict.kind = access.kind;
    for (const MachineAccess* found : machine) {
      verdict.is_generic |= found->instruction.space == AddressSpace::generic;
    }
    // Copies that bypass the registers have counters of their own.
    if (access.is_copy) {
      verdict.requests.emplace();
      return;
    }
    if (machine.empty()) return;
    if (is_atomic(access.kind)) return judge_atomic(i);
    if (have_width(machine, access.width) || have_width(machine, 0)) {
      verdict.requests = {{{0, access.width, false, false}}};
    } else if (have_width(machine, machine[0]->instruction.width) &&
               machine[0]->instruction.width < access.width && access.parts == 1) {
      verdict.requests = {{{0, machine[0]->instruction.width, false, false}}};
    } else if (access.parts > 1) {
      judge_parts(i);
    }
  }

  /// A vector of which parts are dead: the runs of live parts, in aligned pieces.
  void judge_parts(std::size_t i) {
    const PtxAccess& access = function_.accesses()[i];
    const unsigned part = access.width / access.parts;
    std::vector<Request> pieces;
    for (unsigned first = 0; first < access.parts;) {
      if ((access.live_parts >> first & 1) == 0) {
        ++first;
        continue;
      }
      unsigned count = 1;
      while (first % (2 * count) == 0 && first + 2 * count <= access.parts &&
             (~access.live_parts >> first & ((1u << 2 * count) - 1)) == 0) {
        count *= 2;
      }
      pieces.push_back({static_cast<std::int8_t>(first * part),
                        static_cast<std::uint8_t>(count * part), false, false});
      first += count;
    }
    std::map<unsigned, std::size_t> wanted, found;
    for (const Request& piece : pieces) ++wanted[piece.width];
    for (const MachineAccess* machine : found_[i]) ++found[machine->instruction.width];
    if (pieces.empty() || found_[i].size() % pieces.size() != 0) return;
    const std::size_t copies = found_[i].size() / pieces.size();
    for (auto& [width, count] : wanted) count *= copies;
    if (wanted == found) verdicts_[i].requests = std::move(pieces);
  }

  void judge_atomic(std::size_t i) {
    const PtxAccess& access = function_.accesses()[i];
    Verdict& verdict = verdicts_[i];
    bool all_reduce = true;
    verdict.drops_result = true;
    for (const MachineAccess* machine : found_[i]) {
      const Instruction& instruction = machine->instruction;
      verdict.retries |= instruction.is_compare_and_swap && !access.is_compare_and_swap;
      verdict.counts_lanes |= instruction.counts_lanes;
      verdict.drops_result &= instruction.drops_result;
      all_reduce &= instruction.access == AccessKind::reduction;
    }
    if (access.space == AddressSpace::global) {
      verdict.kind = all_reduce ? AccessKind::reduction : AccessKind::atomic;
    }
    const bool elects = code_.electing_lines.contains(access.line);
    verdict.requests = {{{0, access.width, false, elects}}};
  }

  /// Accesses that a wide one may have been made of: in one block, of one kind and width.
  void judge_groups() {
    std::map<GroupKey, std::vector<std::size_t>> near, far;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!is_open(i)) continue;
      GroupKey key = function_.group_of(i);
      near[key].push_back(i);
    }
    for (auto& [key, members] : near) judge_group(members);
    for (auto& [key, members] : near) {
      GroupKey whole_block = key;
      whole_block.root = 0;
      for (const std::size_t i : members) {
        if (is_open(i) && !needs_none(i)) far[whole_block].push_back(i);
      }
    }
    for (auto& [key, members] : far) judge_by_number(members);
    judge_across();
  }

  static bool leads(const Machine& machine, unsigned width) {
    return !machine.empty() && machine[0]->instruction.width > width;
  }
  unsigned width_of_leader(std::size_t i) const {
    const Machine& machine = found_[i];
    const unsigned width = function_.accesses()[i].width;
    return leads(machine, width) && have_width(machine, machine[0]->instruction.width)
               ? machine[0]->instruction.width
               : 0;
  }

  /// Members with known distances. Where the windows lie depends on the root's alignment, which
  /// only ptxas knew: any that gives every member a window will do, since each leader's window
  /// counts once, wherever it lies.
  void judge_group(const std::vector<std::size_t>& members) {
    for (std::int64_t alignment = 0; alignment < 32; ++alignment) {
      if (fits(members, alignment)) return settle_group(members);
    }
  }

  bool fits(const std::vector<std::size_t>& members, std::int64_t alignment) const {
    const auto share_window = [&](std::size_t leader, std::size_t i) {
      const unsigned width = width_of_leader(leader);
      const auto window = [&](std::size_t access) {
        const std::int64_t at = function_.accesses()[access].offset + alignment;
        return at - ((at % width) + width) % width;
      };
      return width != 0 && window(leader) == window(i);
    };
    bool leads_any = false;
    for (const std::size_t i : members) {
      if (found_[i].empty()) {
        const bool is_in_window = std::any_of(members.begin(), members.end(),
                                              [&](std::size_t l) { return share_window(l, i); });
        if (!is_in_window && !needs_none(i)) return false;
        continue;
      }
      if (width_of_leader(i) == 0) return false;
      leads_any = true;
      // A leader alone was merged with something else: other rounds of a loop, other blocks.
      const bool is_alone = std::none_of(members.begin(), members.end(), [&](std::size_t other) {
        return found_[other].empty() && share_window(i, other);
      });
      if (is_alone) return false;
    }
    return leads_any;
  }

  /// A load that was merged with loads of blocks behind it, which ran early that way.
  void judge_across() {
    std::map<GroupKey, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const PtxAccess& access = function_.accesses()[i];
      GroupKey key = function_.group_of(i);
      if (!is_open(i) || access.kind != AccessKind::load || !access.is_lasting) continue;
      if (found_[i].empty() && needs_none(i)) continue;
      key.block = 0;
      groups[key].push_back(i);
    }
    for (const auto& [key, members] : groups) {
      const bool in_order = std::all_of(members.begin(), members.end(), [&](std::size_t i) {
        return found_[i].empty() || std::all_of(members.begin(), members.end(), [&](std::size_t m) {
                 return function_.graph().dominates(function_.block_of(i), function_.block_of(m)) &&
                        function_.graph().depth(function_.block_of(i)) ==
                            function_.graph().depth(function_.block_of(m));
               });
      });
      if (in_order) judge_group(members);
    }
  }

  /// Members at distances that are not known here, but ptxas knew: taken for a group when there are
  /// exactly as many as the wide accesses have room for.
  void judge_by_number(const std::vector<std::size_t>& members) {
    std::size_t room = 0;
    for (const std::size_t i : members) {
      if (found_[i].empty()) continue;
      if (width_of_leader(i) == 0) return;
      room += width_of_leader(i) / function_.accesses()[i].width;
    }
    if (room == members.size()) settle_group(members);
  }

  void settle_group(const std::vector<std::size_t>& members) {
    for (const std::size_t i : members) {
      verdicts_[i].requests.emplace();
      if (found_[i].empty()) continue;
      verdicts_[i].requests->push_back(
          {0, static_cast<std::uint8_t>(width_of_leader(i)), true, false});
    }
  }

  std::string_view doubt_of_flow(std::size_t i) const {
    const Machine& machine = found_[i];
    if (machine.empty()) return {};
    const FlowGraph& graph = *code_.graph;
    if (code_.jumps_anywhere) return unknown_jumps;
    if (!graph.has_plain_loops() || !function_.graph().has_plain_loops()) return other_loops;
    // The last rounds of an unrolled loop stand behind it. The code of a function may stand within
    // its caller's loops.
    const unsigned depth = function_.graph().depth(function_.block_of(i));
    unsigned deepest = 0;
    for (const MachineAccess* access : machine) {
      deepest = std::max(deepest, graph.depth(access->block));
    }
    const bool is_same = deepest == depth || (deepest > depth && !function_.is_entry());
    if (!is_same && !verdicts_[i].retries) return other_loops;
    if (function_.accesses()[i].is_copy) return {};
    return {};
  }

  /// Copies of an access are the rounds of a loop that was unrolled, or on different paths that
  /// lead to it. Where a warp parts between them, it executes several copies for one execution in
  /// PTX.
  std::vector<int> together(std::size_t i) const {
    if (code_.meets_elsewhere) return function_.branches_before(i);
    if (found_[i].empty() || found_[i].size() == verdicts_[i].requests->size()) return {};
    std::vector<int> lines = function_.exits_around(i);
    std::vector<Node> blocks;
    for (const MachineAccess* access : found_[i]) blocks.push_back(access->block);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    const FlowGraph& graph = *code_.graph;
    bool in_turn = true;
    for (std::size_t a = 0; a < blocks.size() && in_turn; ++a) {
      for (std::size_t b = a + 1; b < blocks.size() && in_turn; ++b) {
        in_turn = graph.leads_to(blocks[a], blocks[b]) || graph.leads_to(blocks[b], blocks[a]);
      }
    }
    if (!in_turn) {
      const std::vector<int> before = function_.branches_before(i);
      lines.insert(lines.end(), before.begin(), before.end());
    }
    return lines;
  }

  const FunctionAccesses& function_;
  const MachineCode& code_;
  const std::map<int, std::vector<const MachineAccess*>>& on_line_;
  std::vector<Machine> found_;
  std::vector<Verdict> verdicts_;
};

/// Why the code was not assembled from the module's text.
std::string mismatch(const ptx::Function& function, const MachineCode& code) {
  for (const ptx::Instruction& instruction : function.body) {
    const ptx::Opcode* opcode = ptx::find_opcode(instruction);
    if (opcode == nullptr || opcode->memory == ptx::Memory::none) continue;
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

}  // namespace

std::string audit(Program& program, const ptx::Module& module, const MachineCode& code) {
  std::map<int, std::vector<const MachineAccess*>> on_line;
  for (const MachineAccess& access : code.accesses) on_line[access.line].push_back(&access);

  std::unordered_map<int, std::pair<const ptx::Function*, Verdict>> verdicts;  // by PTX line
  std::map<int, std::vector<PtxAccess>> ptx_on_line;
  for (const ptx::Function& function : module.functions) {
    if (function.is_declaration) continue;
    if (function.is_entry && function.name != program.kernel) continue;
    if (std::string wrong = mismatch(function, code); !wrong.empty()) return wrong;
    const auto accesses = FunctionAccesses::of(function);
    if (!accesses) continue;
    std::vector<Verdict> judged = Judge(*accesses, code, on_line).judge();
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const PtxAccess& access = accesses->accesses()[i];
      ptx_on_line[access.line].push_back(access);
      verdicts.emplace(access.line, std::pair{&function, std::move(judged[i])});
    }
  }

  // Machine accesses that nothing in the PTX explains would be missing from the counts.
  const auto has_strays = [&](AccessKind kind, AddressSpace space) {
    return std::any_of(code.accesses.begin(), code.accesses.end(), [&](const MachineAccess& m) {
      if (!same_kind(*m.instruction.access, kind) || !same_space(m.instruction.space, space)) {
        return false;
      }
      const auto there = ptx_on_line.find(m.line);
      if (there == ptx_on_line.end()) return true;
      return std::none_of(there->second.begin(), there->second.end(), [&](const PtxAccess& p) {
        return same_kind(p.kind, kind) || is_atomic(p.kind) || p.is_copy;
      });
    });
  };
  std::map<std::pair<AccessKind, AddressSpace>, bool> strays;
  std::unordered_multimap<int, std::uint32_t> on_ptx_line;
  for (std::uint32_t i = 0; i < program.places.size(); ++i) {
    on_ptx_line.emplace(program.places[i].ptx_line, i);
  }

  for (SiteInfo& site : program.sites) {
    const auto found = verdicts.find(program.places[site.instruction].ptx_line);
    if (found == verdicts.end()) continue;
    const Verdict& verdict = found->second.second;
    site.doubt = verdict.doubt;
    const std::pair key{site.kind, site.space};
    if (!strays.contains(key)) strays[key] = has_strays(site.kind, site.space);
    if (strays[key] && site.doubt.empty()) site.doubt = unknown_accesses;
    if (!site.doubt.empty()) continue;
    site.kind = verdict.kind;
    site.retries = verdict.retries;
    site.counts_lanes = verdict.counts_lanes;
    site.drops_result = verdict.drops_result;
    site.is_generic = verdict.is_generic;
    for (const int line : verdict.together) {
      const auto [first, last] = on_ptx_line.equal_range(line);
      for (auto at = first; at != last; ++at) site.together.push_back(at->second);
    }
    if (verdict.requests) site.requests = *verdict.requests;
  }
  if (program.has_calls) keep_bodies_together(program);
  return {};
}

std::string audit(Program& program, const ptx::Module& module, Bytes cubin) {
  auto read = read_machine_code(cubin, program.kernel);
  if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
  return audit(program, module, std::get<MachineCode>(read));
}

}  // namespace warpmeter::model::sass
