// SPDX-License-Identifier: MIT
// Names of one function, made unique. PTX scopes names by braces, and inline assembly and every
// call sequence lean on that: "param0" or "p" is declared in a hundred scopes of one function, each
// time something else. The rest of warpmeter wants one flat list of names, so the second and every
// later declaration of a name gets the name "param0@7", 7 being the number of its scope.
//
// Names of `.reg .b32 t<3>` are declared as a range. A range that collides with an earlier name is
// not declared at once: its members are, one by one, when they are first used.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// Where the digits begin that may be a register's number in its range. A name can be split at each
/// of them: "t12" is number 12 of the range "t" or number 2 of "t1".
std::size_t first_split(std::string_view name);

/// True if `digits`, split off so, is a number below `count` written as PTX does: no leading zero.
bool is_member(std::string_view digits, int count);

class Scopes {
 public:
  /// Starts with the function's own scope open. New names are kept by `module`; registers of ranges
  /// are added to `function` as they are used.
  Scopes(Module& module, Function& function);

  /// Scopes within scopes may be at most this deep.
  static constexpr std::size_t deepest = 64;

  void open();
  void close();
  std::size_t depth() const { return open_.size(); }
  int current() const { return open_.back().number; }

  /// Returns the unique name, or nothing when the scope has declared the name before.
  std::optional<std::string_view> declare(std::string_view name);

  /// Declares a register, or with `count` > 0 a range of them. False when declared before.
  bool declare_register(const RegisterDeclaration& declaration);

  /// The unique name of what `name` stands for here; `name` itself when nothing was renamed.
  std::string_view resolve(std::string_view name);

  /// A label of the current scope, which instructions may name before it comes. Returns the unique
  /// name, or nothing when the scope has the label already.
  std::optional<std::string_view> declare_label(std::string_view name);

  /// The label that `name` means in scope number `scope`, once all labels are declared.
  std::string_view resolve_label(std::string_view name, int scope) const;
  bool has_renamed_labels() const { return has_renamed_labels_; }

 private:
  struct Range {
    int count = 0;
    Type type = Type::none;
    bool is_renamed = false;
  };
  struct Scope {
    int number = 0;
    std::unordered_map<std::string_view, std::string_view> names;  ///< to the unique ones
    std::unordered_map<std::string_view, Range> ranges;
    int renamed = 0;
  };

  std::string_view make_unique(std::string_view name, int scope);
  bool collides(std::string_view name) const;
  void count_renamed(bool is_renamed);

  /// In a renamed range, declares the register that `name` is.
  std::string_view member(Scope& scope, const Range& range, std::string_view name);

  Module& module_;
  Function& function_;
  std::vector<Scope> open_;
  std::vector<int> parents_ = {0};  ///< for every scope by its number
  int renamed_ = 0;                 ///< names renamed in the scopes that are open
  bool has_renamed_labels_ = false;
  /// Declared anywhere in the function: names, names without their trailing digits, ranges.
  std::unordered_set<std::string_view> names_, stems_, ranges_;
  /// Label → scope → unique name.
  std::unordered_map<std::string_view, std::unordered_map<int, std::string_view>> labels_;
};

}  // namespace warpmeter::model::ptx
