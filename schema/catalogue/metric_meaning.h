// SPDX-License-Identifier: MIT
// Suggestions for the name of a metric that does not exist, by meaning before spelling.
//
// A metric's name is made of words: what it looks at (shared, l2, dram), what is done (read,
// store), the figure (throughput, transactions). Two names mean the same when their words do:
// global_load_efficiency is gld_efficiency. Spelling alone would lead from l2_load_throughput to
// gld_throughput, which is another cache.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::schema {

/// Up to three of `known` that share the most words with `name`, the nearest in spelling first
/// among equals; where no words are shared, the nearest in spelling.
std::vector<std::string> nearest_by_meaning(std::string_view name,
                                            std::span<const std::string> known);

}  // namespace warpmeter::schema
