// SPDX-License-Identifier: MIT
// Which launches are meant: "transpose", "transpose/tiled", "smem_*/*pad*", "transpose/tiled@1024",
// "app/reduce@grid=64@block=256".
//
//   selector  = name {"@" condition}
//   condition = size {"," size} | ("grid" | "block") "=" shape {"," shape} | "device" "=" device
//   shape     = number ["x" number ["x" number]]
//
// A name is a family, family/variant or a glob over these, as for `run`; sizes and shapes are those
// of the views; a device is its title, the name that cards share, or a glob. Every condition has to
// hold, one of its values is enough, and a shape that ends in ones may leave them away.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::reports {

/// The name that tells launches apart.
struct LaunchName {
  std::string family, variant;
  std::optional<std::int64_t> size;
  std::string grid, block;    ///< "64x64x1", as the views have them
  std::string device = {};    ///< its title
  bool shows_device = false;  ///< the run has several

  /// "transpose/naive at 1,024", "transpose/naive at 1,024 on NVIDIA H200 #1"
  std::string text() const;
  std::string geometry() const { return grid + " of " + block; }
};

/// The names of a run's launches for people: with their geometry where a variant was launched in
/// several at one size.
class ReadableNames {
 public:
  void add(const LaunchName& launch);
  std::string of(const LaunchName& launch) const;

 private:
  std::map<std::string, std::set<std::string>, std::less<>> geometries_;  ///< by text()
};

class Selector {
 public:
  /// Where a text stops being a selector (from 0, in bytes), and what would go on there.
  struct Mistake {
    std::size_t at = 0;
    std::string expected;
  };

  /// Selects every launch.
  Selector() = default;
  /// Reads `text`, or says what is wrong with it.
  static std::optional<Mistake> read(std::string_view text, Selector& selector);

  const std::string& text() const { return text_; }
  bool selects(const LaunchName& launch) const;
  /// The same with its name as that of a variant of any family; itself where it names a family.
  Selector of_any_family() const;
  /// The same with every choice of parameters: for "tiled" those of "tiled[TILE=16]".
  Selector of_all_parameters() const;

 private:
  bool names(const LaunchName& launch) const;

  std::string text_, name_;
  std::vector<std::vector<std::int64_t>> sizes_;          ///< one of each has to be met
  std::vector<std::vector<std::string>> grids_, blocks_;  ///< as "64x64x1"
  std::vector<std::string> devices_;                      ///< all have to be met
};

/// The selector as these launches read it: a name that is no family's is a variant's, and a name
/// without parameters that is no variant's means all that begin with it.
Selector settled(const Selector& selector, const std::vector<LaunchName>& launches);

/// The suggestion for a selector that selects nothing: the variant at its named sizes, or near
/// names; "; it is at …", "; did you mean …?" or "".
std::string meant_by(const std::vector<LaunchName>& launches, const Selector& selector);

/// A selector that names no family, but variants, becomes theirs. Throws Error{usage}, with the
/// names that there are, where one selects none of a run's launches; Error{nothing} where
/// `unfinished` says why the run may lack it.
void require_selected(const std::vector<LaunchName>& launches, std::vector<Selector>& selectors,
                      std::int64_t run, const std::string& unfinished);

/// The selector of each launch, once: "transpose/tiled", or "transpose/tiled@1024" where the
/// selector that was meant has a condition.
std::vector<std::string> selectors_of(const std::vector<LaunchName>& launches,
                                      const Selector& meant);

/// Throws Error{usage} with the column (from 1, in characters) of a mistake.
Selector parse_selector(std::string_view text);

/// The column, from 1, of a byte of the text, in characters.
std::size_t column_of(std::string_view text, std::size_t at);

}  // namespace warpmeter::reports
