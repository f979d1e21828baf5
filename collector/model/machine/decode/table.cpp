#include "collector/model/machine/decode/table.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>
#include <vector>

namespace warpmeter::model {
namespace {

/// Opcodes that the decoder knows apart from the table's names.
constexpr std::string_view further_opcodes[] = {
    "activemask", "alloca",    "applypriority", "atom",       "bar",
    "barrier",    "bfi",       "bra",           "brkpt",      "brx",
    "call",       "cp",        "createpolicy",  "cvt",        "cvta",
    "discard",    "elect",     "exit",          "fence",      "griddepcontrol",
    "isspacep",   "ld",        "ldmatrix",      "ldu",        "lop3",
    "match",      "mbarrier",  "membar",        "mov",        "nanosleep",
    "pmevent",    "prefetch",  "prefetchu",     "red",        "redux",
    "ret",        "selp",      "set",           "setmaxnreg", "setp",
    "shfl",       "st",        "stackrestore",  "stacksave",  "trap",
    "vabsdiff2",  "vabsdiff4", "vadd2",         "vadd4",      "vavrg2",
    "vavrg4",     "vmax2",     "vmax4",         "vmin2",      "vmin4",
    "vote",       "vset2",     "vset4",         "vsub2",      "vsub4",
};

/// "add{,.rn}.f32" to "add.f32" and "add.rn.f32".
void expand(std::string_view names, const std::string& before, std::vector<std::string>& all) {
  const std::size_t open = names.find('{');
  if (open == std::string_view::npos) {
    all.push_back(before + std::string(names));
    return;
  }
  const std::size_t close = names.find('}', open);
  std::string_view choices = names.substr(open + 1, close - open - 1);
  while (true) {
    const std::size_t comma = choices.find(',');
    expand(names.substr(close + 1),
           before + std::string(names.substr(0, open)) + std::string(choices.substr(0, comma)),
           all);
    if (comma == std::string_view::npos) return;
    choices.remove_prefix(comma + 1);
  }
}

class Table {
 public:
  Table() {
    using enum RowType;
#define UNARY(code, names, D, A, ...) add(names, {Code::code, D, {A}, 1});
#define BINARY(code, names, D, A, B, ...) add(names, {Code::code, D, {A, B}, 2});
#define TERNARY(code, names, D, A, B, C, ...) add(names, {Code::code, D, {A, B, C}, 3});
#define CLASSIFY(code, names, T, ...) add(names, {Code::code, none, {T}, 1});
#define CARRY(code, names, T, sources, ...) add(names, {Code::code, T, {T, T, T}, sources});
#include "collector/model/machine/operations.inc"
  }

  const ValueOperation* find(std::string_view name) const {
    const auto found = operations_.find(std::string(name));
    return found == operations_.end() ? nullptr : &found->second;
  }

  std::set<std::string> opcodes() const {
    std::set<std::string> names(std::begin(further_opcodes), std::end(further_opcodes));
    for (const auto& [name, operation] : operations_) names.insert(name.substr(0, name.find('.')));
    for (const std::string_view name : {"and", "or", "xor", "not"}) names.emplace(name);
    return names;
  }

 private:
  void add(std::string_view names, const ValueOperation& operation) {
    if (names.empty()) return;
    std::vector<std::string> all;
    expand(names, "", all);
    for (std::string& name : all) operations_.emplace(std::move(name), operation);
  }

  std::unordered_map<std::string, ValueOperation> operations_;
};

const Table& table() {
  static const Table the_table;
  return the_table;
}

struct ComparisonRow {
  std::string_view name;
  RowType type;
  Code code;
};
constexpr ComparisonRow comparisons[] = {
#define COMPARE(code, comparison, T, ...) {comparison, RowType::T, Code::code},
#include "collector/model/machine/operations.inc"
};

struct AccessRow {
  std::string_view in_memory;
  RowType row;
  Code code;
};
constexpr AccessRow loads[] = {
#define LOAD(code, M, R) {#M, RowType::R, Code::code##_a32},
#include "collector/model/machine/operations.inc"
};
constexpr AccessRow stores[] = {
#define STORE(code, M, R) {#M, RowType::R, Code::code##_a32},
#include "collector/model/machine/operations.inc"
};

std::optional<RowType> compared_type(std::string_view type, bool equality) {
  using enum RowType;
  if (type == "f32") return f32;
  if (type == "f64") return f64;
  if (type == "f16") return f16;
  if (type == "bf16") return bf16;
  const bool is_signed = type.starts_with('s') && !equality;
  const std::string_view bits = type.empty() ? type : type.substr(1);
  if (bits == "16") return is_signed ? s16 : u16;
  if (bits == "32") return is_signed ? s32 : u32;
  if (bits == "64") return is_signed ? s64 : u64;
  return std::nullopt;
}

}  // namespace

unsigned bytes_of(RowType type) {
  switch (type) {
    case RowType::none:
      return 0;
    case RowType::u16:
    case RowType::s16:
    case RowType::f16:
    case RowType::bf16:
      return 2;
    case RowType::u32:
    case RowType::s32:
    case RowType::f32:
      return 4;
    case RowType::u64:
    case RowType::s64:
    case RowType::f64:
      break;
  }
  return 8;
}

const ValueOperation* find_value_operation(std::string_view name) { return table().find(name); }

std::optional<Comparison> find_comparison(std::string_view comparison, std::string_view type) {
  // gt is lt of the operands swapped; lo, ls, hi, hs are the unsigned lt, le, gt, ge.
  static const std::unordered_map<std::string_view, std::pair<std::string_view, bool>> meanings = {
      {"gt", {"lt", true}},  {"ge", {"le", true}},  {"gtu", {"ltu", true}}, {"geu", {"leu", true}},
      {"lo", {"lt", false}}, {"ls", {"le", false}}, {"hi", {"lt", true}},   {"hs", {"le", true}},
  };
  Comparison result;
  if (const auto meaning = meanings.find(comparison); meaning != meanings.end()) {
    comparison = meaning->second.first;
    result.swapped = meaning->second.second;
  }
  const std::optional<RowType> row = compared_type(type, comparison == "eq" || comparison == "ne");
  if (!row) return std::nullopt;
  for (const ComparisonRow& candidate : comparisons) {
    if (candidate.name != comparison || candidate.type != *row) continue;
    result.code = candidate.code;
    result.type = *row;
    return result;
  }
  return std::nullopt;
}

std::optional<Code> find_load(unsigned bytes, bool is_signed, unsigned row_bytes) {
  const bool extends = is_signed && bytes < row_bytes;
  const std::string in_memory = fmt::format("{}{}", extends ? 's' : 'u', bytes * 8);
  for (const AccessRow& load : loads) {
    if (load.in_memory == in_memory && bytes_of(load.row) == row_bytes) return load.code;
  }
  return std::nullopt;
}

std::optional<Code> find_store(unsigned bytes, unsigned row_bytes) {
  const std::string in_memory = fmt::format("u{}", bytes * 8);
  for (const AccessRow& store : stores) {
    if (store.in_memory == in_memory && bytes_of(store.row) == row_bytes) return store.code;
  }
  return std::nullopt;
}

const std::string& supported_opcodes() {
  static const std::string names = [] {
    std::string joined;
    for (const std::string& name : table().opcodes()) {
      joined += (joined.empty() ? "" : ", ") + name;
    }
    return joined;
  }();
  return names;
}

}  // namespace warpmeter::model
