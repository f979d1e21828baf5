// SPDX-License-Identifier: MIT
#include "collector/model/ptx/scopes.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

namespace warpmeter::model::ptx {

/// A register of a range has a number of at most this many digits.
constexpr std::size_t most_digits = 9;

std::size_t first_split(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  return name.size() - begin > most_digits ? name.size() - most_digits : begin;
}

bool is_member(std::string_view digits, int count) {
  if (digits.size() > 1 && digits[0] == '0') return false;
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number < count;
}

Scopes::Scopes(Module& module, Function& function) : module_(module), function_(function) {
  open_.emplace_back();
}

void Scopes::open() {
  const int number = static_cast<int>(parents_.size());
  parents_.push_back(current());
  open_.emplace_back();
  open_.back().number = number;
}

void Scopes::close() {
  renamed_ -= open_.back().renamed;
  open_.pop_back();
}

std::string_view Scopes::make_unique(std::string_view name, int scope) {
  return module_.unique_names.emplace_back(fmt::format("{}@{}", name, scope));
}

bool Scopes::collides(std::string_view name) const {
  if (names_.count(name) != 0) return true;
  for (std::size_t i = first_split(name); i < name.size(); ++i) {
    if (ranges_.count(name.substr(0, i)) != 0) return true;
  }
  return false;
}

void Scopes::count_renamed(bool is_renamed) {
  open_.back().renamed += is_renamed;
  renamed_ += is_renamed;
}

std::optional<std::string_view> Scopes::declare(std::string_view name) {
  Scope& scope = open_.back();
  if (scope.names.count(name) != 0) return std::nullopt;
  const bool is_renamed = collides(name);
  const std::string_view unique = is_renamed ? make_unique(name, current()) : name;
  scope.names.emplace(name, unique);
  count_renamed(is_renamed);
  names_.insert(name);
  for (std::size_t i = first_split(name); i < name.size(); ++i) stems_.insert(name.substr(0, i));
  return unique;
}

bool Scopes::declare_register(const RegisterDeclaration& declaration) {
  const auto& [name, count, type] = declaration;
  if (count == 0) {
    const std::optional<std::string_view> unique = declare(name);
    if (unique) function_.registers.push_back({*unique, 0, type});
    return unique.has_value();
  }
  const bool is_renamed = ranges_.count(name) != 0 || stems_.count(name) != 0;
  if (!open_.back().ranges.emplace(name, Range{count, type, is_renamed}).second) return false;
  count_renamed(is_renamed);
  ranges_.insert(name);
  if (!is_renamed) function_.registers.push_back(declaration);
  return true;
}

std::string_view Scopes::member(Scope& scope, const Range& range, std::string_view name) {
  if (!range.is_renamed) return name;
  const std::string_view unique = make_unique(name, scope.number);
  function_.registers.push_back({unique, 0, range.type});
  scope.names.emplace(name, unique);
  return unique;
}

std::string_view Scopes::resolve(std::string_view name) {
  if (renamed_ == 0) return name;
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
    for (std::size_t i = first_split(name); i < name.size() && !scope->ranges.empty(); ++i) {
      const auto range = scope->ranges.find(name.substr(0, i));
      if (range != scope->ranges.end() && is_member(name.substr(i), range->second.count)) {
        return member(*scope, range->second, name);
      }
    }
  }
  return name;
}

std::optional<std::string_view> Scopes::declare_label(std::string_view name) {
  auto& labels = labels_[name];
  if (labels.count(current()) != 0) return std::nullopt;
  const bool is_renamed = !labels.empty();
  const std::string_view unique = is_renamed ? make_unique(name, current()) : name;
  labels.emplace(current(), unique);
  has_renamed_labels_ = has_renamed_labels_ || is_renamed;
  return unique;
}

std::string_view Scopes::resolve_label(std::string_view name, int scope) const {
  const auto found = labels_.find(name);
  if (found == labels_.end()) return name;
  for (;; scope = parents_[static_cast<std::size_t>(scope)]) {
    const auto label = found->second.find(scope);
    if (label != found->second.end()) return label->second;
    if (scope == 0) return name;
  }
}

}  // namespace warpmeter::model::ptx
