// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/with_noun.h"
#include "collector/model/counts/sass/jump_tables.h"
#include "collector/model/counts/sass/line_table.h"
#include "collector/model/counts/sass/resources.h"

namespace warpmeter::model::sass {
namespace {

/// The largest kernels in public collections have a tenth.
constexpr std::size_t most_instructions = std::size_t{1} << 20;

std::vector<Instruction> instructions_of(Bytes code, int arch) {
  std::vector<Instruction> result;
  for (std::uint64_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes) {
    const Word word{*number_at<std::uint64_t>(code, at), *number_at<std::uint64_t>(code, at + 8)};
    result.push_back(decode(word, at, arch));
  }
  return result;
}

/// The number of the instruction that a jump goes to; nothing when it leads out of the code.
std::optional<std::size_t> target_of(const Instruction& instruction, std::size_t count) {
  const auto target = static_cast<std::uint64_t>(instruction.target);
  if (target % instruction_bytes != 0 || target / instruction_bytes >= count) return std::nullopt;
  return target / instruction_bytes;
}

/// Basic blocks: which block each instruction is of, and the graph.
class Blocks {
 public:
  Blocks(const std::vector<Instruction>& code,
         const std::map<std::size_t, std::vector<std::size_t>>& tables)
      : code_(code), tables_(tables), of_(code.size()) {
    std::vector<bool> starts(code.size() + 1, false);
    starts[0] = true;
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i].jump == Jump::none) continue;
      starts[i + 1] = true;
      for (const std::size_t target : jump_targets(i)) starts[target] = true;
    }
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (starts[i]) firsts_.push_back(i);
      of_[i] = static_cast<Node>(firsts_.size() - 1);
    }
    connect();
  }

  Node of(std::size_t instruction) const { return of_[instruction]; }

  const std::vector<Node>& successors(Node block) const { return successors_[block]; }
  /// True if lanes that begin `block` may access memory before something gathers them.
  bool accesses_apart(Node block) const {
    std::vector<bool> seen(firsts_.size(), false);
    std::vector<Node> open = {block};
    while (!open.empty()) {
      const Node at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      const std::size_t end = at + 1 < firsts_.size() ? firsts_[at + 1] : code_.size();
      bool is_gathered = false;
      for (std::size_t i = firsts_[at]; i < end && !is_gathered; ++i) {
        const Instruction& instruction = code_[i];
        if (instruction.never_runs) continue;
        is_gathered = instruction.is_sync || instruction.is_barrier || instruction.gathers_warp;
        if (instruction.access || instruction.jump == Jump::call) return true;
      }
      if (!is_gathered) open.insert(open.end(), successors_[at].begin(), successors_[at].end());
    }
    return false;
  }
  std::unique_ptr<FlowGraph> graph() const {
    return std::make_unique<FlowGraph>(successors_, entries_);
  }

 private:
  void connect() {
    successors_.resize(firsts_.size());
    for (std::size_t b = 0; b < firsts_.size(); ++b) {
      const std::size_t end = b + 1 < firsts_.size() ? firsts_[b + 1] : code_.size();
      const Instruction& last = code_[end - 1];
      const bool goes_on = last.jump == Jump::none || last.jump == Jump::call || last.is_guarded;
      if (goes_on && end < code_.size()) successors_[b].push_back(of_[end]);
      for (const std::size_t target : jump_targets(end - 1)) {
        (last.jump == Jump::call ? entries_ : successors_[b]).push_back(of_[target]);
      }
    }
  }
  std::vector<std::size_t> jump_targets(std::size_t i) const {
    const Instruction& instruction = code_[i];
    if (instruction.never_runs) return {};
    if (const auto table = tables_.find(i); table != tables_.end()) return table->second;
    if (instruction.jump != Jump::branch && instruction.jump != Jump::call) return {};
    const auto target = target_of(instruction, code_.size());
    return target ? std::vector{*target} : std::vector<std::size_t>{};
  }

  const std::vector<Instruction>& code_;
  const std::map<std::size_t, std::vector<std::size_t>>& tables_;
  std::vector<Node> of_;
  std::vector<std::size_t> firsts_;
  std::vector<std::vector<Node>> successors_;
  std::vector<Node> entries_ = {0};
};

void add_open_exits(const Blocks& blocks, const FlowGraph& graph, Node block, int line,
                    std::vector<OpenExit>& exits) {
  const unsigned depth = graph.depth(block);
  if (depth == 0) return;
  for (const Node next : blocks.successors(block)) {
    if (graph.depth(next) >= depth || !blocks.accesses_apart(next)) continue;
    exits.push_back({line, depth > 1});
    return;
  }
}

/// BSYNC behind a loop that has a YIELD holds nobody: those who have left it go on.
void add_exits_of_yielding(Node yielding, MachineCode& code) {
  const std::vector<Node> exits = code.graph->exits_around(yielding);
  for (const MachineBranch& branch : code.branches) {
    if (branch.line == 0) continue;
    if (std::find(exits.begin(), exits.end(), branch.block) == exits.end()) continue;
    code.open_exits.push_back({branch.line, code.graph->depth(branch.block) > 1});
  }
}

/// The instruction whose register an access to local memory keeps or brings back, where the same
/// basic block has it: the one that made the value, or the first that takes it. Its line says what
/// was spilled; where ptxas puts the access itself says little.
std::optional<std::size_t> whose_register(const std::vector<Instruction>& instructions,
                                          const Blocks& blocks, std::size_t at) {
  const Instruction& access = instructions[at];
  const bool is_store = access.is_local_store;
  const unsigned first = is_store ? access.second : access.result;
  const unsigned count = std::max(1, access.width / 4);
  const auto is_of_it = [&](std::uint8_t number) {
    return number != no_register && number - first < count;
  };
  for (std::size_t i = at;;) {
    if (is_store ? i == 0 : i + 1 == instructions.size()) return std::nullopt;
    is_store ? --i : ++i;
    if (blocks.of(i) != blocks.of(at)) return std::nullopt;
    const Instruction& other = instructions[i];
    if (other.is_local) continue;  // has no line of its own either
    const bool takes = is_of_it(other.base) || is_of_it(other.second) || is_of_it(other.third);
    if (is_store ? is_of_it(other.result) : takes) return i;
    if (!is_store && is_of_it(other.result)) return std::nullopt;
  }
}

/// True if every thread goes from the first instruction to the first end without a jump.
bool is_straight(const std::vector<Instruction>& instructions) {
  for (const Instruction& instruction : instructions) {
    // WARPSYNC may let the groups of a warp go on one after the other.
    if (instruction.calls_elsewhere || instruction.gathers_warp || instruction.yields) return false;
    if (instruction.jump == Jump::end) return !instruction.is_guarded;
    if (instruction.jump != Jump::none && !instruction.never_runs) return false;
  }
  return false;
}

std::vector<std::string_view> lines_of(Bytes text) {
  std::vector<std::string_view> lines;
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::string names_of_kernels(const Elf& elf) {
  std::string names;
  for (const Section& section : elf.sections()) {
    if (!section.name.starts_with(".text.") || names.size() > 500) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", section.name.substr(6, 100));
  }
  return names.empty() ? "it has none" : "it has " + names;
}

constexpr std::string_view text_section = ".nv_debug_ptx_txt";

/// The PTX that it was assembled from; of what is to be linked, or was, a number ends the name.
/// Null: there is none.
const Section* ptx_of(const Elf& elf) {
  for (const Section& section : elf.sections()) {
    if (section.name.starts_with(text_section)) return &section;
  }
  return nullptr;
}

bool has_several_texts(const Elf& elf) {
  const auto& all = elf.sections();
  return std::count_if(all.begin(), all.end(), [](const Section& section) {
           return section.name.starts_with(text_section);
         }) > 1;
}

}  // namespace

std::variant<MachineCode, std::string> read_machine_code(Bytes cubin, std::string_view entry) {
  auto read = Elf::read(cubin);
  if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
  const Elf& elf = std::get<Elf>(read);
  const Section* code = elf.find(fmt::format(".text.{}", entry));
  if (code == nullptr || code->contents.size() < instruction_bytes) {
    return fmt::format("holds no code of kernel '{}'; {}", entry, names_of_kernels(elf));
  }
  if (code->contents.size() / instruction_bytes > most_instructions) {
    return fmt::format("holds a kernel '{}' of {}, more than are read", entry,
                       with_noun(code->contents.size() / instruction_bytes, "instruction"));
  }
  auto table = LineTable::read(elf, static_cast<std::size_t>(code - elf.sections().data()));
  if (auto* wrong = std::get_if<std::string>(&table)) return std::move(*wrong);
  const LineTable& lines = std::get<LineTable>(table);
  const Section* text = ptx_of(elf);
  if (has_several_texts(elf)) {
    return "was linked of several files (-rdc=true), whose lines are not told apart; compile the "
           "kernel and what it calls as one file";
  }
  if (text == nullptr || text->contents.empty()) {
    return "does not hold the PTX that it was assembled from; compile it with -lineinfo";
  }

  MachineCode result;
  result.arch = elf.arch();
  result.resources = resources_of(elf, entry);
  result.ptx = lines_of(text->contents);
  const std::vector<Instruction> instructions = instructions_of(code->contents, result.arch);
  const Section* constants = elf.find(fmt::format(".nv.constant2.{}", entry));
  const auto tables =
      jump_tables(code->contents, constants == nullptr ? Bytes{} : constants->contents);
  const Blocks blocks(instructions, tables);
  result.graph = blocks.graph();
  // A jump by a table may stand for several branches; BREAK outside of loops is for lanes that meet
  // where only some of the paths lead.
  result.meets_elsewhere = !tables.empty();
  constexpr std::uint8_t nobody = 255;
  std::set<Node> yielding;
  std::uint8_t gathered = nobody;  ///< the guard of those who wait for others since the last jump
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    const bool may_run = result.graph->is_reachable(blocks.of(i));
    result.operations.push_back(
        {instruction.counted_as, instruction.is_guarded, may_run, instruction.product});
    result.calls_elsewhere |= may_run && instruction.calls_elsewhere && !instruction.never_runs;
    if (instruction.gathers_warp) gathered = instruction.guard;
    result.meets_elsewhere |= instruction.is_break && result.graph->depth(blocks.of(i)) == 0;
    if (instruction.never_runs || !result.graph->is_reachable(blocks.of(i))) continue;
    const std::uint64_t offset = i * instruction_bytes;
    const int line = lines.line_at(offset);
    if (instruction.access) {
      result.accesses.push_back({instruction, offset, line, blocks.of(i)});
    }
    if (instruction.is_local) {
      const auto other = whose_register(instructions, blocks, i);
      result.local_lines.push_back(lines.line_at(other.value_or(i) * instruction_bytes));
    }
    const bool parts = instruction.jump == Jump::branch || instruction.jump == Jump::end;
    if (parts && instruction.is_guarded) {
      result.branches.push_back({blocks.of(i), line, blocks.successors(blocks.of(i))});
    }
    if (parts && instruction.jump == Jump::branch && instruction.is_guarded && line != 0) {
      add_open_exits(blocks, *result.graph, blocks.of(i), line, result.open_exits);
    }
    if (instruction.is_barrier) {
      result.barriers.push_back({line, instruction.is_guarded && instruction.guard != gathered});
    }
    if (instruction.is_barrier || instruction.jump != Jump::none) gathered = nobody;
    result.yields |= instruction.yields;
    if (instruction.yields) yielding.insert(blocks.of(i));
    if (instruction.elects_lane) result.electing_lines.insert(line);
    result.jumps_anywhere |= instruction.jump == Jump::indirect && !tables.contains(i);
  }
  result.is_straight = is_straight(instructions);
  for (const Node block : yielding) add_exits_of_yielding(block, result);
  return result;
}

}  // namespace warpmeter::model::sass
