// SPDX-License-Identifier: MIT
#include "collector/model/counts/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/with_noun.h"
#include "collector/model/counts/count_fields.h"
#include "collector/model/counts/grades.h"
#include "schema/figures/figures.h"

namespace warpmeter::model {

Estimate::Estimate(const Program& program, const Dim3& grid, const BlockSelection& selection)
    : program_(&program), grid_(grid), selection_(&selection) {
  for (Part& part : parts_) {
    part.sum.counts.resize(program.sites.size());
    part.sum.parted.resize(program.places.size());
  }
  first_ = parts_;
}

void Estimate::add(std::uint64_t block, const LaunchOutcome& outcome) {
  Part& part = parts_[static_cast<std::size_t>(part_of(block, grid_))];
  const std::vector<double> values = counter_values(*program_, outcome);
  if (part.blocks++ == 0) {
    for (const double value : values) part.bounds.push_back({value, value});
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    part.bounds[i].least = std::min(part.bounds[i].least, values[i]);
    part.bounds[i].most = std::max(part.bounds[i].most, values[i]);
  }
  part.sum += outcome;
  if (added_++ == 0) first_ = parts_;
}

void Estimate::keep_first() {
  parts_ = first_;
  added_ = std::min<std::uint64_t>(added_, 1);
}

/// How many blocks of the grid those that were run of a part stand for. A part of which none was
/// run is taken for like the others.
double Estimate::blocks_in(std::size_t part) const {
  if (parts_[part].blocks == 0) return 0;
  double missing = 0, present = 0;
  for (std::size_t i = 0; i < grid_parts; ++i) {
    (parts_[i].blocks == 0 ? missing : present) += static_cast<double>(selection_->existing[i]);
  }
  return static_cast<double>(selection_->existing[part]) * (1 + missing / present);
}

LaunchOutcome Estimate::whole() const {
  LaunchOutcome whole;
  for (const Part& part : parts_) whole += part.sum;
  const auto scaled = [&](auto count_of) {
    double sum = 0;
    for (std::size_t i = 0; i < grid_parts; ++i) {
      if (parts_[i].blocks == 0) continue;
      sum += blocks_in(i) * static_cast<double>(count_of(parts_[i].sum)) /
             static_cast<double>(parts_[i].blocks);
    }
    return static_cast<std::uint64_t>(std::llround(sum));
  };
  for (std::size_t site = 0; site < whole.counts.size(); ++site) {
    for (const CountSpace space : count_spaces) {
      for (const CountField field : count_fields) {
        whole.counts[site].*space.*field =
            scaled([&](const LaunchOutcome& sum) { return sum.counts[site].*space.*field; });
      }
    }
  }
  whole.blocks = scaled([](const LaunchOutcome& sum) { return sum.blocks; });
  whole.warps = scaled([](const LaunchOutcome& sum) { return sum.warps; });
  whole.threads_of_blocks = scaled([](const LaunchOutcome& sum) { return sum.threads_of_blocks; });
  whole.warp_instructions = scaled([](const LaunchOutcome& sum) { return sum.warp_instructions; });
  whole.thread_instructions =
      scaled([](const LaunchOutcome& sum) { return sum.thread_instructions; });
  return whole;
}

std::vector<Estimate::Range> Estimate::ranges() const {
  std::vector<Range> ranges;
  const std::vector<std::string_view> names = counter_list();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Range range;
    range.counter = names[i];
    bool differs = false, is_first = true;
    for (std::size_t p = 0; p < grid_parts; ++p) {
      const Part& part = parts_[p];
      if (part.blocks == 0) continue;
      const Bounds& bounds = part.bounds[i];
      range.least = is_first ? bounds.least : std::min(range.least, bounds.least);
      range.most = is_first ? bounds.most : std::max(range.most, bounds.most);
      is_first = false;
      if (part.blocks == selection_->existing[p]) {  // nothing to estimate
        const double sum = counter_values(*program_, part.sum)[i];
        range.low += sum;
        range.high += sum;
        continue;
      }
      range.low += bounds.least * blocks_in(p);
      range.high += bounds.most * blocks_in(p);
      differs |= bounds.least < bounds.most;
    }
    if (differs) ranges.push_back(std::move(range));
  }
  return ranges;
}

double Estimate::percent() const {
  return 100 * static_cast<double>(selection_->blocks.size()) / static_cast<double>(grid_.count());
}

std::string Estimate::coverage() const {
  const auto& chosen = selection_->chosen;
  const auto& existing = selection_->existing;
  return fmt::format(
      "{} of {} ({:.3g} %): {} of {} corners, {} of {} on the edges, {} of {} inside",
      selection_->blocks.size(), with_noun(grid_.count(), "block"), percent(), chosen[0],
      existing[0], chosen[1], existing[1], chosen[2], existing[2]);
}

schema::Counter Estimate::counter(std::string_view name, const LaunchOutcome& whole) const {
  schema::Counter result = model::counter(name, *program_, whole);
  if (!result.value) return result;
  std::string reason =
      fmt::format("{}{} of {} ({:.3g} %)", schema::estimate_words, selection_->blocks.size(),
                  with_noun(grid_.count(), "block"), percent());
  for (const Range& range : ranges()) {
    if (range.counter != name) continue;
    reason += fmt::format(
        "; {} between {:.0f} and {:.0f} if the blocks left out cost no less and no more than those "
        "that ran",
        name, range.low, range.high);
  }
  if (!result.reason.empty()) reason += "; " + result.reason;
  result.reason = reason;
  result.grade = std::max(result.grade, schema::Grade::sampled);
  return result;
}

}  // namespace warpmeter::model
