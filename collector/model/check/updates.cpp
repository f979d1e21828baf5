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

struct Sum {
  std::string_view atomic;  ///< empty: the operation hands on its only source
  /// Which sources may be what memory held, one after the other.
  bool first = true, second = false, third = false;
};

/// What an operation does to a value that was loaded; none: nothing that is handed on.
std::optional<Sum> sum_of(Code code) {
  switch (code) {
#define UNARY(code, names, ...) \
  case Code::code:              \
    return Sum{std::string_view(names).starts_with("mov") ? "" : by_swapping};
#define CONVERT(code, ...) \
  case Code::code:         \
    return Sum{""};
#define BINARY(code, names, ...)                                        \
  case Code::code: {                                                    \
    constexpr std::string_view name = names;                            \
    if (name.starts_with("add")) return Sum{"atomicAdd()", true, true}; \
    if (name.starts_with("sub")) return Sum{"atomicSub()"};             \
    if (name.starts_with("min")) return Sum{"atomicMin()", true, true}; \
    if (name.starts_with("max")) return Sum{"atomicMax()", true, true}; \
    if (name.starts_with("and")) return Sum{"atomicAnd()", true, true}; \
    if (name.starts_with("or")) return Sum{"atomicOr()", true, true};   \
    if (name.starts_with("xor")) return Sum{"atomicXor()", true, true}; \
    return Sum{by_swapping, true, true};                                \
  }
#define TERNARY(code, names, ...)                             \
  case Code::code: {                                          \
    constexpr std::string_view name = names;                  \
    if (name.starts_with("{fma") || name.starts_with("mad")) { \
      return Sum{"atomicAdd()", false, false, true};          \
    }                                                         \
    return std::nullopt;                                      \
  }
#include "collector/model/machine/operations.h"
    default:
      return std::nullopt;
  }
}

bool is_load(const Program& program, const Operation& operation) {
  switch (operation.code) {
#define LOAD(code, ...)  \
  case Code::code##_a32: \
  case Code::code##_a64: \
    return program.sites[operation.extra].kind == AccessKind::load;
#include "collector/model/machine/operations.h"
    default:
      return false;
  }
}

bool is_store(const Program& program, const Operation& operation) {
  switch (operation.code) {
#define STORE(code, ...) \
  case Code::code##_a32: \
  case Code::code##_a64: \
    return program.sites[operation.extra].kind == AccessKind::store;
#include "collector/model/machine/operations.h"
    default:
      return false;
  }
}

/// Looks for where a store's value comes from.
class Search {
 public:
  Search(const Program& program, std::size_t store)
      : program_(program),
        store_(program.operations[store]),
        begin_(store - std::min(store, most_operations)) {}

  /// Whether `row`, as it is before an operation, was loaded from where the store goes.
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

std::vector<std::string_view> updates(const Program& program) {
  std::vector<std::string_view> found(program.sites.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& store = program.operations[i];
    if (!is_store(program, store)) continue;
    Search search(program, i);
    if (!search.comes_from_there(store.d, i)) continue;
    found[store.extra] = search.atomic();
    found[search.load()] = search.atomic();
  }
  return found;
}

bool loses_one(std::string_view atomic) {
  return atomic == "atomicAdd()" || atomic == "atomicSub()" || atomic == "atomicXor()";
}

}  // namespace warpmeter::model::check
