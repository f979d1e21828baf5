// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/with_noun.h"
#include "collector/model/counts/sass/elf.h"
#include "collector/model/counts/sass/info.h"
#include "collector/model/counts/sass/jump_tables.h"
#include "collector/model/counts/sass/line_table.h"

namespace warpmeter::model::steps {
namespace {

constexpr std::size_t most_instructions = 200'000;
constexpr std::uint8_t parameter_bank_attribute = 0x0a;  // EIATTR_PARAM_CBANK

bool is_conditional(const Operation& operation) {
  return !operation.guard.is_true() || !operation.input.is_true() ||
         !operation.second_input.is_true();
}

bool is_control(Kind kind) { return kind >= Kind::branch; }

using Tables = std::map<std::size_t, std::vector<std::size_t>>;

/// The operation that a jump goes to; nothing when it leads out of the code.
std::optional<std::uint32_t> target_of(const Code& code, const Operation& operation) {
  const auto target = static_cast<std::uint64_t>(operation.target);
  if (target % sass::instruction_bytes != 0) return std::nullopt;
  if (target / sass::instruction_bytes >= code.operations.size()) return std::nullopt;
  return static_cast<std::uint32_t>(target / sass::instruction_bytes);
}

std::vector<std::uint32_t> targets_of(const Code& code, std::uint32_t at, const Tables& tables) {
  const Operation& operation = code.operations[at];
  if (operation.never_runs()) return {};
  if (operation.kind == Kind::branch_by_table) {
    const auto table = tables.find(at);
    if (table == tables.end()) return {};
    return {table->second.begin(), table->second.end()};
  }
  if (operation.kind != Kind::branch && operation.kind != Kind::call) return {};
  const auto target = target_of(code, operation);
  return target ? std::vector{*target} : std::vector<std::uint32_t>{};
}

void make_blocks(Code& code, const Tables& tables) {
  const std::size_t count = code.operations.size();
  std::vector<bool> starts(count + 1, false);
  starts[0] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!is_control(code.operations[i].kind)) continue;
    starts[i + 1] = true;
    for (const std::uint32_t target : targets_of(code, i, tables)) starts[target] = true;
  }
  code.block_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (starts[i]) code.blocks.push_back({i, i, {}, {}, {}});
    code.blocks.back().end = i + 1;
    const Predicate& guard = code.operations[i].guard;
    if (!guard.is_true() && !guard.is_uniform) code.blocks.back().guarded.push_back(i);
    code.block_of[i] = static_cast<std::uint32_t>(code.blocks.size() - 1);
  }
}

void connect(Code& code, const Tables& tables) {
  std::vector<std::uint32_t> behind_calls;
  for (const Block& block : code.blocks) {
    const bool calls = code.operations[block.end - 1].kind == Kind::call;
    if (calls && block.end < code.operations.size()) {
      behind_calls.push_back(code.block_of[block.end]);
    }
  }
  for (Block& block : code.blocks) {
    const Operation& last = code.operations[block.end - 1];
    const bool leaves = last.kind == Kind::branch || last.kind == Kind::branch_by_table ||
                        last.kind == Kind::call || last.kind == Kind::back ||
                        last.kind == Kind::end;
    const bool goes_on = !leaves || is_conditional(last) || last.never_runs();
    if (goes_on && block.end < code.operations.size()) {
      block.successors.push_back(code.block_of[block.end]);
    }
    for (const std::uint32_t target : targets_of(code, block.end - 1, tables)) {
      block.successors.push_back(code.block_of[target]);
    }
    if (last.kind == Kind::back) {
      block.successors.insert(block.successors.end(), behind_calls.begin(), behind_calls.end());
    }
  }
}

using Predecessors = std::vector<std::vector<std::uint32_t>>;
/// Blocks, and how many successors each has among them.
using Region = std::unordered_map<std::uint32_t, std::size_t>;

/// The blocks between a BSYNC, with its own, and its BSSY; empty where the search leaves what one
/// BSSY begins, or becomes long.
Region region_of(const Code& code, std::uint32_t sync, const Predecessors& predecessors) {
  constexpr std::size_t most = 500;
  const std::uint8_t barrier = code.operations[code.blocks[sync].end - 1].barrier;
  Region region = {{sync, 0}};
  std::vector<std::uint32_t> left = {sync};
  while (!left.empty()) {
    const std::uint32_t block = left.back();
    left.pop_back();
    if (block == 0 || region.size() > most) return {};
    for (const std::uint32_t before : predecessors[block]) {
      const Operation& last = code.operations[code.blocks[before].end - 1];
      if (last.kind == Kind::begin_sync && last.barrier == barrier) continue;
      if (before == sync) return {};
      const auto [found, is_new] = region.try_emplace(before, 0);
      ++found->second;
      if (is_new) left.push_back(before);
    }
  }
  return region;
}

/// True if the region has a loop: taking away what leads to nothing that is left, from the end on,
/// leaves blocks.
bool has_loop(Region region, std::uint32_t sync, const Predecessors& predecessors) {
  std::vector<std::uint32_t> ends = {sync};
  while (!ends.empty()) {
    const std::uint32_t end = ends.back();
    ends.pop_back();
    region.erase(end);
    for (const std::uint32_t before : predecessors[end]) {
      const auto found = region.find(before);
      if (found != region.end() && --found->second == 0) ends.push_back(before);
    }
  }
  return !region.empty();
}

void find_loops(Code& code) {
  Predecessors predecessors(code.blocks.size());
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    for (const std::uint32_t next : code.blocks[b].successors) predecessors[next].push_back(b);
  }
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    if (code.operations[code.blocks[b].end - 1].kind != Kind::sync) continue;
    const Region region = region_of(code, b, predecessors);
    code.blocks[b].is_passed_once = !region.empty() && !has_loop(region, b, predecessors);
  }
}

/// Registers and predicates, a bit each: R0…, UR0…, P0…, UP0…, and one for all local memory.
using Places = std::bitset<256 + 64 + 8 + 8 + 1>;
constexpr std::size_t local_place = 336;

void add(Places& places, const Predicate& predicate) {
  if (predicate.number < 7) places.set(320 + (predicate.is_uniform ? 8 : 0) + predicate.number);
}

void add(Places& places, const Operand& operand, unsigned registers) {
  if (!operand.is_register() || operand.is_zero()) return;
  const unsigned first = (operand.form == Operand::Form::uniform ? 256U : 0U) + operand.number;
  const unsigned end = operand.form == Operand::Form::uniform ? 320 : 256;
  for (unsigned i = first; i < std::min(first + registers, end); ++i) places.set(i);
}

Places written_by(const Operation& operation) {
  Places places;
  if (is_control(operation.kind)) return places;
  if (operation.writes_anything) return places.set();
  if (operation.writes_local) places.set(local_place);
  const Operand result = {operation.is_uniform ? Operand::Form::uniform : Operand::Form::general,
                          operation.result};
  if (operation.writes_registers()) add(places, result, operation.result_registers);
  for (const Predicate& predicate : operation.results) add(places, predicate);
  if (operation.kind == Kind::register_to_predicates) {
    for (std::uint8_t i = 0; i < 7; ++i) add(places, Predicate{i});
  }
  return places;
}

Places read_by(const Operation& operation) {
  Places places;
  add(places, operation.guard);
  // A store leaves the rest of local memory as it was.
  if (operation.writes_local || operation.kind == Kind::local_load) places.set(local_place);
  if (operation.kind == Kind::unknown) return places;
  add(places, operation.input);
  add(places, operation.second_input);
  add(places, operation.third_input);
  const bool is_pair = operation.kind == Kind::load || operation.kind == Kind::back ||
                       operation.kind == Kind::ask_space;
  const bool is_of_doubles = is_double(operation.kind);
  const bool converts_pair = is_float(operation.kind) && operation.is_high;
  add(places, operation.a, is_pair || is_of_doubles ? 2 : 1);
  const unsigned second = is_of_doubles || converts_pair ? 2 : 1;
  add(places, operation.b, operation.kind == Kind::local_store ? 4 : second);
  const bool adds_pair = operation.kind == Kind::multiply_add_wide ||
                         operation.kind == Kind::multiply_add_high || is_of_doubles;
  add(places, operation.c, adds_pair ? 2 : 1);
  if (operation.kind == Kind::predicates_to_register) {
    for (std::uint8_t i = 0; i < 7; ++i) add(places, Predicate{i});
  }
  return places;
}

/// From what the block's successors need at their beginnings, what it needs at its own. `needed`
/// gets its operations that have to be executed.
Places needed_before(const Code& code, const Block& block, Places places,
                     std::vector<std::uint32_t>* needed) {
  for (std::uint32_t i = block.end; i-- > block.first;) {
    const Operation& operation = code.operations[i];
    if (operation.never_runs()) continue;
    if (is_control(operation.kind)) {
      places |= read_by(operation);
      continue;
    }
    const Places written = written_by(operation);
    if ((written & places).any()) {
      if (needed != nullptr) needed->push_back(i);
      if (operation.guard.is_true()) places &= ~written;
      places |= read_by(operation);
    }
    add(places, operation.guard);
  }
  if (needed != nullptr) std::reverse(needed->begin(), needed->end());
  return places;
}

bool is_float_result(const Operation& operation) {
  return is_float(operation.kind) && operation.writes_registers();
}

/// Which places may be known behind a block, from those that may be before it. Floats whose
/// operands never are known become unknown, if `settles`: they cost time, and that of all before
/// them.
Places known_behind(Code& code, const Block& block, Places known, bool settles) {
  for (std::uint32_t i = block.first; i < block.end; ++i) {
    Operation& operation = code.operations[i];
    const bool is_hopeless = is_float_result(operation) && (read_by(operation) & ~known).any();
    const Places written = written_by(operation);
    if (operation.kind != Kind::unknown && !is_hopeless) {
      known |= written;
    } else if (operation.guard.is_true()) {
      known &= ~written;
    }
    known.set(local_place);
    if (is_hopeless && settles) operation.kind = Kind::unknown;
  }
  return known;
}

void drop_hopeless_floats(Code& code) {
  std::vector<Places> before(code.blocks.size());
  for (bool changes = true; changes;) {
    changes = false;
    for (const Block& block : code.blocks) {
      const auto number = static_cast<std::size_t>(&block - code.blocks.data());
      const Places behind = known_behind(code, block, before[number], false);
      for (const std::uint32_t next : block.successors) {
        changes |= (behind & ~before[next]).any();
        before[next] |= behind;
      }
    }
  }
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    known_behind(code, code.blocks[b], before[b], true);
  }
}

void find_needed(Code& code) {
  std::vector<Places> before(code.blocks.size());
  const auto behind = [&](const Block& block) {
    Places places;
    for (const std::uint32_t next : block.successors) places |= before[next];
    return places;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t b = code.blocks.size(); b-- > 0;) {
      const Places places = needed_before(code, code.blocks[b], behind(code.blocks[b]), nullptr);
      changes |= places != before[b];
      before[b] = places;
    }
  }
  for (Block& block : code.blocks) needed_before(code, block, behind(block), &block.needed);
}

void read_parameter_place(const sass::Elf& elf, std::string_view entry, Code& code) {
  const sass::Section* info = elf.find(fmt::format(".nv.info.{}", entry));
  if (info == nullptr) return;
  sass::for_each_entry(info->contents, [&](std::uint8_t kind, Bytes values) {
    if (kind != parameter_bank_attribute) return;
    code.parameter_offset = number_at<std::uint16_t>(values, 4).value_or(0);
    code.parameter_bytes = number_at<std::uint16_t>(values, 6).value_or(0);
  });
}

}  // namespace

std::variant<Code, std::string> read_code(Bytes cubin, std::string_view entry) {
  auto read = sass::Elf::read(cubin);
  if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
  const sass::Elf& elf = std::get<sass::Elf>(read);
  const sass::Section* section = elf.find(fmt::format(".text.{}", entry));
  if (section == nullptr || section->contents.size() < sass::instruction_bytes) {
    return "it is not there";
  }
  const std::size_t count = section->contents.size() / sass::instruction_bytes;
  if (count > most_instructions) return fmt::format("it has {}", with_noun(count, "instruction"));
  Code code;
  code.arch = elf.arch();
  if (code.arch < 80 || code.arch > 90) {
    return fmt::format("it is for sm_{}, whose operations are not known", code.arch);
  }
  const auto number = static_cast<std::size_t>(section - elf.sections().data());
  auto table = sass::LineTable::read(elf, number);
  const auto* lines = std::get_if<sass::LineTable>(&table);
  for (std::uint64_t at = 0; at < count * sass::instruction_bytes; at += sass::instruction_bytes) {
    const sass::Word word{*number_at<std::uint64_t>(section->contents, at),
                          *number_at<std::uint64_t>(section->contents, at + 8)};
    code.operations.push_back(decode_operation(word, at, code.arch));
    code.lines.push_back(lines == nullptr ? 0 : lines->line_at(at));
    const sass::Instruction read_by_audit = sass::decode(word, at, code.arch);
    const bool is_plain =
        read_by_audit.access == AccessKind::load || read_by_audit.access == AccessKind::store;
    if (is_plain && read_by_audit.carrier == Carrier::registers) {
      code.accesses.push_back(static_cast<std::uint32_t>(code.operations.size() - 1));
    }
  }
  const sass::Section* constants = elf.find(fmt::format(".nv.constant2.{}", entry));
  if (constants != nullptr) {
    code.tables.assign(constants->contents.begin(), constants->contents.end());
  }
  read_parameter_place(elf, entry, code);
  const Tables tables = sass::jump_tables(section->contents, code.tables);
  make_blocks(code, tables);
  connect(code, tables);
  find_loops(code);
  drop_hopeless_floats(code);
  find_needed(code);
  return code;
}

}  // namespace warpmeter::model::steps
