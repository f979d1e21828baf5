// SPDX-License-Identifier: MIT
#include "collector/model/check/updates.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace warpmeter::model::check {
namespace {

/// How far apart the load and the store of an update may lie.
constexpr std::size_t most_operations = 48;

constexpr std::string_view by_swapping = "a loop around atomicCAS()";

enum class Shape : std::uint8_t { other, unary, convert, binary, ternary, load, store };
struct Row {
  Code code;
  Shape shape;
  std::string_view names;
};
constexpr Row rows[] = {
#define UNARY(code, names, ...) {Code::code, Shape::unary, names},
#define CONVERT(code, ...) {Code::code, Shape::convert, ""},
#define BINARY(code, names, ...) {Code::code, Shape::binary, names},
#define TERNARY(code, names, ...) {Code::code, Shape::ternary, names},
#define LOAD(code, ...) {Code::code##_a32, Shape::load, ""}, {Code::code##_a64, Shape::load, ""},
#define STORE(code, ...) {Code::code##_a32, Shape::store, ""}, {Code::code##_a64, Shape::store, ""},
#include "collector/model/machine/warp/operations.h"
};

const Row& row_of(Code code) {
  static const auto by_code = [] {
    constexpr Row other{Code::count, Shape::other, ""};
    std::vector<Row> all(static_cast<std::size_t>(Code::count), other);
    for (const Row& row : rows) all[static_cast<std::size_t>(row.code)] = row;
    return all;
  }();
  return by_code[static_cast<std::size_t>(code)];
}

struct Sum {
  std::string_view atomic;  ///< empty: the operation hands on its only source
  /// Which sources may be what memory held.
  bool first = true, second = false, third = false;
};

/// The change that an operation makes to a loaded value; none: nothing that is handed on.
std::optional<Sum> sum_of(Code code) {
  struct Known {
    std::string_view name;
    Sum sum;
  };
  static constexpr Known known[] = {
      {"add", {"atomicAdd()", true, true}}, {"sub", {"atomicSub()"}},
      {"min", {"atomicMin()", true, true}}, {"max", {"atomicMax()", true, true}},
      {"and", {"atomicAnd()", true, true}}, {"or", {"atomicOr()", true, true}},
      {"xor", {"atomicXor()", true, true}},
  };
  const Row& row = row_of(code);
  switch (row.shape) {
    case Shape::unary:
      return Sum{row.names.starts_with("mov") ? "" : by_swapping};
    case Shape::convert:
      return Sum{""};
    case Shape::binary:
      for (const Known& one : known) {
        if (row.names.starts_with(one.name)) return one.sum;
      }
      return Sum{by_swapping, true, true};
    case Shape::ternary:
      if (!row.names.starts_with("{fma") && !row.names.starts_with("mad")) return std::nullopt;
      return Sum{"atomicAdd()", false, false, true};
    default:
      return std::nullopt;
  }
}

bool is_load(const Program& program, const Operation& operation) {
  return row_of(operation.code).shape == Shape::load &&
         program.sites[operation.extra].kind == AccessKind::load;
}

bool is_store(const Program& program, const Operation& operation) {
  return row_of(operation.code).shape == Shape::store &&
         program.sites[operation.extra].kind == AccessKind::store;
}

/// Looks for where a store's value comes from.
class Search {
 public:
  Search(const Program& program, std::size_t store)
      : program_(program),
        store_(program.operations[store]),
        begin_(store - std::min(store, most_operations)) {}

  /// True if `row`, as it is before an operation, was loaded from where the store goes.
  bool comes_from_there(std::uint16_t row, std::size_t before) {
    for (std::size_t i = before; i-- > begin_;) {
      const Operation& operation = program_.operations[i];
      if (is_store(program_, operation) || operation.d != row) continue;
      if (is_load(program_, operation)) {
        const bool is_same =
            operation.a == store_.a && operation.imm == store_.imm &&
            program_.sites[operation.extra].space == program_.sites[store_.extra].space;
        if (is_same) load_ = operation.extra;
        return is_same && !atomic_.empty();
      }
      return is_handed_on(operation, i);
    }
    return false;
  }
  std::uint32_t load() const { return load_; }
  std::string_view atomic() const { return atomic_; }

 private:
  bool is_handed_on(const Operation& operation, std::size_t at) {
    const std::optional<Sum> sum = sum_of(operation.code);
    if (!sum) return false;
    const std::string_view before = atomic_;
    if (!sum->atomic.empty()) {
      atomic_ = atomic_.empty() || atomic_ == sum->atomic ? sum->atomic : by_swapping;
    }
    const bool is = (sum->first && comes_from_there(operation.a, at)) ||
                    (sum->second && comes_from_there(operation.b, at)) ||
                    (sum->third && comes_from_there(operation.c, at));
    if (!is) atomic_ = before;
    return is;
  }

  const Program& program_;
  const Operation& store_;
  const std::size_t begin_;
  std::string_view atomic_;
  std::uint32_t load_ = 0;
};

}  // namespace

std::vector<Update> updates(const Program& program) {
  std::vector<Update> found(program.sites.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& store = program.operations[i];
    if (!is_store(program, store)) continue;
    Search search(program, i);
    if (!search.comes_from_there(store.d, i)) continue;
    found[store.extra] = {search.atomic(), store.extra};
    found[search.load()] = {search.atomic(), store.extra};
  }
  return found;
}

bool loses_one(std::string_view atomic) {
  return atomic == "atomicAdd()" || atomic == "atomicSub()" || atomic == "atomicXor()";
}

}  // namespace warpmeter::model::check
