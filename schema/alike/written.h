// SPDX-License-Identifier: MIT
// Whoever writes a whole run need not read it again to know which of its launches are alike
// (alike.h), and whether names tell its kernels apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/records.h"

namespace warpmeter::schema {

/// Numbers texts from 0 in the order in which they come.
class Numbering {
 public:
  std::uint32_t number_of(const std::string& text) {
    return known_.try_emplace(text, static_cast<std::uint32_t>(known_.size())).first->second;
  }
  std::size_t size() const { return known_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

/// Launches whose numbers follow each other: a row of t_alike.
struct AlikePart {
  std::int64_t first_launch = 0;
  std::vector<std::uint32_t> kinds;
};

/// Adds the next launch. Launches ascend.
void append_kind(std::vector<AlikePart>& parts, std::int64_t launch, std::uint32_t kind);

/// The kinds of a run's launches, taken in the order of their numbers.
class AlikeParts {
 public:
  /// `key` is equal for launches that are alike.
  void add(std::int64_t launch, const std::string& key);

  std::size_t kinds() const { return kinds_.size(); }
  std::size_t rows() const { return kinds_.size() + parts_.size(); }
  /// True if a kind has so few launches that a reader gains too little.
  bool are_too_many() const;
  /// True if a reader gains only where kinds are joined (keep_alike).
  bool wants_joining() const;
  /// Empty where too few launches are alike, or there are too few of them.
  const std::vector<AlikePart>& parts() const;

 private:
  Numbering kinds_;
  std::int64_t launches_ = 0;
  std::vector<AlikePart> parts_;
};

/// The runs that this process began, as far as it knows all that was written of their launches.
class WrittenRuns {
 public:
  void begin(std::int64_t run_id) { runs_.try_emplace(run_id); }
  /// Rows of launches were changed, or a transaction failed.
  void forget() { runs_.clear(); }

  /// A launch, then each number that is stored of it beside its row, then its end. `row` is the
  /// number of its row (LaunchRows).
  void begin_launch(std::uint64_t row);
  template <class Number>
  void add(Number number) {
    key_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void end_launch(std::int64_t run_id, std::int64_t launch, const Launch& record);

  /// The launches that are alike. Null where not all of the run is known, and where so many kinds
  /// were found that keep_alike has to join some.
  const std::vector<AlikePart>* alike(std::int64_t run_id) const;
  /// False where each variant of the run is known to be one kernel with a short name.
  bool may_share_names(std::int64_t run_id) const;

 private:
  struct Run {
    AlikeParts alike;
    std::unordered_map<std::string, std::string> kernels;  ///< by the variant
    bool may_share_names = false;
    std::optional<std::uint64_t> last_row;
  };
  void note_kernel(Run& run, const Launch& record) const;

  std::map<std::int64_t, Run> runs_;
  std::uint64_t row_ = 0;
  std::string key_;  ///< equal for launches that are alike
};

}  // namespace warpmeter::schema
