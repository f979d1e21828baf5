// SPDX-License-Identifier: MIT
// How many passes a choice of counters takes, without a header of CUDA: for the command line.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warpmeter::cupti {

/// A PerfWorks name that the chip does not know is a mistake where it can still be told, and a
/// counter that the chip lacks once the program runs.
enum class UnknownName { is_mistake, is_lacking };

struct Passes {
  std::string chip;  ///< "GH100"
  std::size_t passes = 0;
  std::vector<std::pair<std::string, std::string>> lacking;  ///< counter, and why it has no value
};

/// Needs CUPTI, but neither a GPU nor a driver. Throws Error{usage} for a PerfWorks name that is a
/// mistake, Error{no_hardware} without CUPTI or for a chip that it does not know.
Passes plan_passes(const std::string& chip, std::span<const std::string> counters,
                   UnknownName unknown = UnknownName::is_mistake);

/// The PerfWorks names that the chip does not know. Throws Error{no_hardware} as plan_passes.
std::vector<std::string> unknown_names(const std::string& chip, std::span<const std::string> names);

struct PassGroup {
  std::vector<std::string> counters;
  std::size_t passes = 0;  ///< more than 1 for a counter that needs several by itself
};

/// The counters in groups of which `passes_of` says 1, each in the first that it fits into; a
/// counter that takes more passes has a group of its own.
std::vector<PassGroup> group_by_pass(
    std::span<const std::string> counters,
    const std::function<std::size_t(const std::vector<std::string>&)>& passes_of);

/// The counters that one pass reads: in their order, each that still fits. Parts of what takes one
/// pass take one, too.
std::vector<std::string> in_one_pass(
    std::span<const std::string> counters,
    const std::function<std::size_t(const std::vector<std::string>&)>& passes_of);

/// The counters in groups that each take one pass on every one of `chips`, for replaying a whole
/// program; a counter that takes more has a group of its own. Throws as plan_passes.
std::vector<PassGroup> one_pass_groups(std::span<const std::string> chips,
                                       std::span<const std::string> counters);

/// One chip of each generation that CUPTI 13 counts on.
std::span<const char* const> known_chips();

/// The folder of the libcupti that is used here. Throws Error{no_hardware} without one.
std::string cupti_folder();

}  // namespace warpmeter::cupti
