// SPDX-License-Identifier: MIT
#include "collector/runtime/check/explained.h"

#include "collector/model/counts/grades.h"
#include "collector/model/counts/sample.h"
#include "collector/model/explain/explain.h"

namespace warpmeter::runtime {
namespace {

/// The most recordings for each kernel and shape.
constexpr std::size_t most_recorded = 8;
/// After so many launches in a row that were like earlier ones, the next is not recorded.
constexpr unsigned alike_to_stop = 2;

}  // namespace

Explained::Shape Explained::shape_of(const LaunchPlace& place) {
  const Geometry& g = place.geometry;
  return {place.kernel,
          {g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z, g.dynamic_shared_bytes}};
}

bool Explained::wants(const LaunchPlace& place) const {
  const auto known = told_.find(shape_of(place));
  return known == told_.end() || (known->second.told.size() < most_recorded &&
                                  known->second.alike_in_a_row < alike_to_stop);
}

std::uint32_t Explained::number_of(const LaunchPlace& place, const model::Program& program,
                                   const model::LaunchOutcome& outcome,
                                   const model::DeviceMemory& memory, Report& report) {
  if (outcome.sampled) {
    if (sampled_ == 0) {
      schema::Explanation none;
      none.missing.push_back({"", std::string(model::why_sampled_is_not_explained)});
      sampled_ = report.explain(none);
    }
    return sampled_;
  }
  OfShape& known = told_[shape_of(place)];
  std::vector<double> counts = model::counter_values(program, outcome);
  ++known.alike_in_a_row;
  for (const Told& one : known.told) {
    if (one.counts == counts) return one.number;
  }
  known.alike_in_a_row = 0;
  if (outcome.recording) {
    model::explain::Options options;
    options.sources = &sources_;
    options.buffer = model::explain::buffers_of(memory);
    for (const std::string& text : report.config().shapes) {
      options.shapes.push_back(model::explain::parse_shape(text));
    }
    options.shaped = &shaped_;
    const std::uint32_t number =
        report.explain(model::explain::explain(program, place.geometry, outcome, options));
    known.told.push_back({std::move(counts), number});
    return number;
  }
  if (unlike_ == 0) {
    schema::Explanation none;
    none.missing.push_back({"",
                            "only the first launches of a kernel are explained, and this one's "
                            "counts are none of theirs"});
    unlike_ = report.explain(none);
  }
  return unlike_;
}

void Explained::forget() {
  told_.clear();
  shaped_.clear();
  unlike_ = sampled_ = 0;
}

void Explained::end(Report& report) const {
  for (const auto& [array, wrong] : shaped_) report.tell(inject::Shaped{array, wrong});
}

}  // namespace warpmeter::runtime
