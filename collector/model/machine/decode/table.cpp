// SPDX-License-Identifier: MIT
#include "collector/model/machine/decode/table.h"

#include <functional>
#include <string_view>
#include <unordered_map>

#include "collector/model/ptx/row_table.h"
#include "collector/model/ptx/word_table.h"

namespace warpmeter::model {
namespace {

/// An opcode and at most eight words.
struct Key {
  ptx::Opcode opcode = ptx::Opcode::unknown;
  std::uint64_t words = 0;  ///< a byte each, one more than its number

  bool operator==(const Key&) const = default;
};

struct Hash {
  std::size_t operator()(const Key& key) const {
    return std::hash<std::uint64_t>()(key.words * 31 + static_cast<std::uint64_t>(key.opcode));
  }
};

std::optional<Key> key_of(ptx::Opcode opcode, const ptx::Words& words) {
  if (words.size() > sizeof(Key::words)) return std::nullopt;
  Key key{opcode, 0};
  for (const ptx::Word word : words)
    key.words = key.words << 8 | (std::uint64_t{1} + static_cast<std::uint8_t>(word));
  return key;
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
#include "collector/model/machine/warp/operations.h"
  }

  const ValueOperation* find(ptx::Opcode opcode, const ptx::Words& words) const {
    const std::optional<Key> key = key_of(opcode, words);
    const auto found = key ? operations_.find(*key) : operations_.end();
    return found == operations_.end() ? nullptr : &found->second;
  }

 private:
  void add(std::string_view names, const ValueOperation& operation) {
    if (names.empty()) return;
    for (const std::string& name : ptx::expanded(names)) {
      const ptx::Mnemonic mnemonic = ptx::read_mnemonic(name);
      operations_.emplace(key_of(mnemonic.opcode, mnemonic.words).value(), operation);
    }
  }

  std::unordered_map<Key, ValueOperation, Hash> operations_;
};

const Table& table() {
  static const Table the_table;
  return the_table;
}

struct ComparisonRow {
  ptx::Word name;
  RowType type;
  Code code;
};
constexpr ComparisonRow comparisons[] = {
#define COMPARE(code, comparison, T, ...) {ptx::Word::comparison, RowType::T, Code::code},
#include "collector/model/machine/warp/operations.h"
};

struct AccessRow {
  ptx::Type in_memory;
  RowType row;
  AccessCodes codes;
};
#define ACCESS(code, M, R) \
  {ptx::Type::M,           \
   RowType::R,             \
   {Code::code##_a32, Code::code##_a64, Code::code##_v_a32, Code::code##_v_a64}},
constexpr AccessRow loads[] = {
#define LOAD(code, M, R) ACCESS(code, M, R)
#include "collector/model/machine/warp/operations.h"
};
constexpr AccessRow stores[] = {
#define STORE(code, M, R) ACCESS(code, M, R)
#include "collector/model/machine/warp/operations.h"
};
#undef ACCESS

/// Every name of the table begins with an instruction whose row says that it is executed so, and is
/// made of words.
constexpr bool are_known(std::string_view names) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= names.size(); ++i) {
    const bool is_end = i == names.size() || names[i] == '.' || names[i] == ',' ||
                        names[i] == '{' || names[i] == '}';
    if (!is_end) continue;
    const std::string_view part = names.substr(begin, i - begin);
    begin = i + 1;
    if (part.empty() || ptx::table::find_word(part) != ptx::Word::unknown) continue;
    const ptx::Execution execution = ptx::table::execution_named(part);
    if (execution != ptx::Execution::value && execution != ptx::Execution::logic &&
        execution != ptx::Execution::move && execution != ptx::Execution::convert) {
      return false;
    }
  }
  return true;
}
#define KNOWN(code, names, ...)   \
  static_assert(are_known(names), \
                "operation " #code " is of no instruction: see ptx/instructions.h");
#define UNARY KNOWN
#define BINARY KNOWN
#define TERNARY KNOWN
#define CLASSIFY KNOWN
#define CARRY KNOWN
#include "collector/model/machine/warp/operations.h"
#undef KNOWN

std::optional<RowType> compared_type(ptx::Type type, bool equality) {
  const ptx::TypeInfo info = ptx::info_of(type);
  if (info.elements != 1) return std::nullopt;
  if (info.kind == ptx::Kind::f) {
    return info.bits == 32 ? RowType::f32 : info.bits == 64 ? RowType::f64 : RowType::f16;
  }
  if (info.kind == ptx::Kind::bf) return RowType::bf16;
  if (!info.is_integer()) return std::nullopt;
  const bool is_signed = info.is_signed() && !equality;
  if (info.bits == 16) return is_signed ? RowType::s16 : RowType::u16;
  if (info.bits == 32) return is_signed ? RowType::s32 : RowType::u32;
  if (info.bits == 64) return is_signed ? RowType::s64 : RowType::u64;
  return std::nullopt;
}

}  // namespace

unsigned bytes_of(RowType type) {
  constexpr unsigned bytes[] = {0, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};  // in their order
  return bytes[static_cast<std::size_t>(type)];
}

const ValueOperation* find_value_operation(ptx::Opcode opcode, const ptx::Words& words) {
  return table().find(opcode, words);
}

std::optional<Comparison> find_comparison(ptx::Word comparison, ptx::Type type) {
  // gt is lt of the operands swapped; lo, ls, hi, hs are the unsigned lt, le, gt, ge.
  using ptx::Word;
  struct Meaning {
    Word word, same;
    bool swapped;
  };
  static constexpr Meaning meanings[] = {
      {Word::gt, Word::lt, true},   {Word::ge, Word::le, true},  {Word::gtu, Word::ltu, true},
      {Word::geu, Word::leu, true}, {Word::lo, Word::lt, false}, {Word::ls, Word::le, false},
      {Word::hi, Word::lt, true},   {Word::hs, Word::le, true},
  };
  Comparison result;
  for (const Meaning& meaning : meanings) {
    if (meaning.word != comparison) continue;
    comparison = meaning.same;
    result.swapped = meaning.swapped;
    break;
  }
  const bool equality = comparison == Word::eq || comparison == Word::ne;
  const std::optional<RowType> row = compared_type(type, equality);
  if (!row) return std::nullopt;
  for (const ComparisonRow& candidate : comparisons) {
    if (candidate.type != *row || candidate.name != comparison) continue;
    result.code = candidate.code;
    result.type = *row;
    return result;
  }
  return std::nullopt;
}

const AccessCodes* find_load(unsigned bytes, bool is_signed, unsigned row_bytes) {
  const bool extends = is_signed && bytes < row_bytes;
  for (const AccessRow& load : loads) {
    const ptx::TypeInfo in_memory = ptx::info_of(load.in_memory);
    if (in_memory.bytes() == bytes && in_memory.is_signed() == extends &&
        bytes_of(load.row) == row_bytes) {
      return &load.codes;
    }
  }
  return nullptr;
}

const AccessCodes* find_store(unsigned bytes, unsigned row_bytes) {
  for (const AccessRow& store : stores) {
    if (ptx::info_of(store.in_memory).bytes() == bytes && bytes_of(store.row) == row_bytes) {
      return &store.codes;
    }
  }
  return nullptr;
}

}  // namespace warpmeter::model
