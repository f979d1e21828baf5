// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/shown_name.h"

#include "base/with_noun.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace warpmeter::model {
namespace {

/// The parts of a name between its "::", leaving those inside of brackets together.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && name.substr(i, 2) == "::") {
      parts.emplace_back();
      ++i;
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Namespaces of the toolkit's headers.
bool is_of_cuda(std::string_view part) {
  return part.starts_with("__") || part == "cuda" || part == "cooperative_groups" ||
         part == "thrust" || part == "cub" || part == "nvcuda";
}

bool is_module_variable(const Allocation& allocation) {
  return allocation.address >= first_module_variable && allocation.address < first_allocation;
}

}  // namespace

std::optional<std::string> readable_variable(std::string_view symbol) {
  // $str, __unnamed_1, __cudart_i2opi_f; names with spaces are the machine's own.
  if (symbol.starts_with("$") || symbol.starts_with("__") || symbol.empty() ||
      symbol.find(' ') != std::string_view::npos) {
    return std::nullopt;
  }
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0) return std::nullopt;
  const std::string_view whole = demangled.get();
  if (whole.find(" for ") != std::string_view::npos) return std::nullopt;  // "vtable for Shape"
  // Variables with internal linkage lie in namespaces that the compiler made.
  std::string name;
  for (const std::string& part : parts_of(whole)) {
    if (part.starts_with("_INTERNAL_") || part == "(anonymous namespace)") continue;
    if (name.empty() && is_of_cuda(part)) return std::nullopt;
    name += (name.empty() ? "" : "::") + part;
  }
  return name;
}

std::string name_of_shared(std::string_view symbol) {
  std::string name = readable_variable(symbol).value_or(std::string(symbol));
  const std::size_t function = name.rfind(")::");
  return function == std::string::npos ? name : name.substr(function + 3);
}

bool has_shown_name(const Allocation& allocation) {
  return !is_module_variable(allocation) || readable_variable(allocation.name).has_value();
}

bool names_its_place(std::string_view name) {
  return name.ends_with(")") && name.find(" (allocated ") != std::string_view::npos;
}

std::string described(std::string_view shown, std::uint64_t bytes, std::uint64_t address) {
  const std::string amount = fmt::format("{} at {:#x}", with_noun(bytes, "byte"), address);
  if (!names_its_place(shown)) return fmt::format("{} ({})", shown, amount);
  if (!shown.starts_with("'")) {  // it says how much it is
    return fmt::format("{}, at {:#x})", shown.substr(0, shown.size() - 1), address);
  }
  return fmt::format("{}, {})", shown.substr(0, shown.size() - 1), amount);
}

std::string shown_name(const Allocation& allocation) {
  if (allocation.name.empty()) return "memory from malloc";
  if (names_its_place(allocation.name)) return allocation.name;
  if (!is_module_variable(allocation)) return fmt::format("'{}'", allocation.name);
  const std::optional<std::string> name = readable_variable(allocation.name);
  return name ? fmt::format("'{}'", *name) : "memory of the compiler's own";
}

}  // namespace warpmeter::model
