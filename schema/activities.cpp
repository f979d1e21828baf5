// SPDX-License-Identifier: MIT
#include "schema/activities.h"

#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

constexpr const char* shape_columns =
    "run_id, shape, kind, name, symbol, process_id, thread_id, device_id, context, stream, grid_x, "
    "grid_y, grid_z, block_x, block_y, block_z, registers, static_shared_bytes, "
    "dynamic_shared_bytes, source_memory, target_memory, source_device, source_context, "
    "target_device, target_context";

std::optional<std::uint32_t> part_of(const std::optional<std::array<std::uint32_t, 3>>& extent,
                                     std::size_t axis) {
  return extent ? std::optional((*extent)[axis]) : std::nullopt;
}

}  // namespace

struct ActivityWriter::Statements {
  explicit Statements(sqlite3* db)
      : shape(db, insertion("t_activity_shape", shape_columns)),
        activity(db, insertion("t_activity",
                               "run_id, activity_id, shape, start_ns, duration_ns, bytes, faults, "
                               "correlation, address")) {}
  Statement shape, activity;
};

ActivityWriter::ActivityWriter(sqlite3* db) : statements_(std::make_unique<Statements>(db)) {}
ActivityWriter::~ActivityWriter() = default;

void ActivityWriter::write(std::int64_t run_id, const ActivityBatch& batch) {
  for (const auto& [number, s] : batch.shapes) {
    statements_->shape.execute(
        run_id, number, s.kind, s.name, text_or_null(s.symbol), s.process_id, s.thread_id,
        s.device_id, s.context, s.stream, part_of(s.grid, 0), part_of(s.grid, 1),
        part_of(s.grid, 2), part_of(s.block, 0), part_of(s.block, 1), part_of(s.block, 2),
        s.registers, s.static_shared_bytes, s.dynamic_shared_bytes, text_or_null(s.source_memory),
        text_or_null(s.target_memory), s.source_device, s.source_context, s.target_device,
        s.target_context);
  }
  std::int64_t id = batch.first_id;
  for (const Activity& a : batch.activities) {
    statements_->activity.execute(run_id, id++, a.shape, a.start_ns, a.duration_ns, a.bytes,
                                  a.faults, a.correlation, a.address);
  }
}

}  // namespace warpmeter::schema
