// SPDX-License-Identifier: MIT
#include "reports/trace/trace.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <variant>

namespace warpmeter::reports {
namespace {

std::optional<std::int64_t> number(const schema::Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::string text(const schema::Value& value) {
  const auto* words = std::get_if<std::string>(&value);
  return words != nullptr ? *words : "";
}

std::optional<std::array<std::int64_t, 3>> extent(std::span<const schema::Value, 3> values) {
  const auto x = number(values[0]), y = number(values[1]), z = number(values[2]);
  if (!x || !y || !z) return std::nullopt;
  return std::array{*x, *y, *z};
}

/// The own columns of activities: a run may have millions, whose shapes are read once. Allocations
/// are no work that took time.
constexpr const char* activities_sql =
    "SELECT shape, activity_id, start_ns, duration_ns, bytes, faults, correlation, address "
    "FROM activities WHERE run_id = :run AND (:process IS NULL OR process_id = :process) "
    "AND kind <> 'allocation'";

constexpr const char* shape_sql =
    "SELECT kind, name, symbol, device, source_memory, target_memory, process_id, thread_id, "
    "device_ordinal, context, stream, registers, static_shared_bytes, dynamic_shared_bytes, "
    "source_device, source_context, target_device, target_context, grid_x, grid_y, grid_z, "
    "block_x, block_y, block_z FROM activities WHERE run_id = :run AND activity_id = :id";

TracedShape shape_of(std::span<const schema::Value> row) {
  TracedShape shape;
  std::size_t column = 0;
  for (std::string* member : {&shape.kind, &shape.name, &shape.symbol, &shape.device,
                              &shape.source_memory, &shape.target_memory}) {
    *member = text(row[column++]);
  }
  for (auto* member :
       {&shape.process_id, &shape.thread_id, &shape.device_ordinal, &shape.context, &shape.stream,
        &shape.registers, &shape.static_shared_bytes, &shape.dynamic_shared_bytes,
        &shape.source_device, &shape.source_context, &shape.target_device, &shape.target_context}) {
    *member = number(row[column++]);
  }
  shape.grid = extent(row.subspan(column).first<3>());
  shape.block = extent(row.subspan(column + 3).first<3>());
  return shape;
}

TracedActivity activity_of(std::span<const schema::Value> row) {
  return {static_cast<std::size_t>(number(row[0]).value_or(0)),
          number(row[1]).value_or(0),
          number(row[2]),
          number(row[3]),
          number(row[4]),
          number(row[5]),
          number(row[6]),
          number(row[7])};
}

/// The shape of one activity.
TracedShape read_shape(const schema::Reader& reader, std::int64_t run_id,
                       std::int64_t activity_id) {
  TracedShape shape;
  reader.each(shape_sql, {{":run", run_id}, {":id", activity_id}},
              [&](std::span<const schema::Value> row) { shape = shape_of(row); });
  return shape;
}

bool has_no_start(const TracedActivity& activity) { return !activity.start_ns; }

/// The place in time of each activity that has no start, by its id. The model reports a kernel just
/// before the call that launched it, and before the end of the ranges around it.
std::unordered_map<std::int64_t, std::int64_t> places_without_start(const Trace& trace) {
  std::vector<const TracedActivity*> by_id;
  for (const TracedActivity& activity : trace.activities) by_id.push_back(&activity);
  std::sort(by_id.begin(), by_id.end(),
            [](const TracedActivity* a, const TracedActivity* b) { return a->id > b->id; });
  std::unordered_map<std::int64_t, std::int64_t> following;  // by process
  std::unordered_map<std::int64_t, std::int64_t> places;
  for (const TracedActivity* activity : by_id) {
    const TracedShape& shape = trace.shapes[activity->shape];
    std::int64_t& next =
        following.try_emplace(shape.process_id.value_or(0), INT64_MAX).first->second;
    if (has_no_start(*activity)) {
      places.emplace(activity->id, next);
    } else {
      next = shape.kind == "range" ? activity->end_ns() : *activity->start_ns;
    }
  }
  return places;
}

/// By their starts. A call comes before what it launched.
void put_in_order(Trace& trace) {
  std::vector<TracedActivity>& all = trace.activities;
  std::unordered_map<std::int64_t, std::int64_t> places;
  if (std::any_of(all.begin(), all.end(), has_no_start)) places = places_without_start(trace);
  const auto key = [&](const TracedActivity& activity) {
    const bool is_placed = has_no_start(activity);
    const std::int64_t start = is_placed ? places.at(activity.id) : *activity.start_ns;
    const std::int64_t launched = is_placed ? activity.correlation.value_or(0) : 0;
    return std::tuple(start, is_placed, launched, activity.id);
  };
  const auto is_before = [&](const TracedActivity& a, const TracedActivity& b) {
    return key(a) < key(b);
  };
  if (!std::is_sorted(all.begin(), all.end(), is_before)) {
    std::sort(all.begin(), all.end(), is_before);
  }
}

}  // namespace

Trace read_trace(const schema::Reader& reader, std::int64_t run_id,
                 std::optional<std::int64_t> process_id) {
  Trace trace;
  std::unordered_map<std::size_t, std::size_t> places;  // by the shape's number
  std::vector<std::int64_t> first_ids;                  // an activity of each shape
  const schema::Value process = process_id ? schema::Value(*process_id) : schema::Value();
  reader.each(activities_sql, {{":run", run_id}, {":process", process}},
              [&](std::span<const schema::Value> row) {
                TracedActivity activity = activity_of(row);
                const auto [place, is_new] = places.try_emplace(activity.shape, first_ids.size());
                if (is_new) first_ids.push_back(activity.id);
                activity.shape = place->second;
                trace.activities.push_back(activity);
              });
  for (const std::int64_t id : first_ids) trace.shapes.push_back(read_shape(reader, run_id, id));
  put_in_order(trace);
  return trace;
}

std::optional<double> throughput(const TracedShape& shape, const TracedActivity& activity) {
  const bool moves_bytes = shape.kind == "copy" || shape.kind == "set" || shape.kind == "migration";
  if (!moves_bytes || !activity.bytes || activity.duration_ns.value_or(0) <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*activity.bytes) / static_cast<double>(*activity.duration_ns) * 1e9;
}

}  // namespace warpmeter::reports
