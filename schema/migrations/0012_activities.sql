-- SPDX-License-Identifier: MIT
-- The activities of a traced program. A million of them is usual, so a row holds only what differs from one to the
-- next; what repeats (kind, name, geometry, device, context, stream, thread) is a row of t_activity_shape.
CREATE TABLE t_activity_shape (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  shape INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  symbol TEXT,
  process_id INTEGER NOT NULL,
  thread_id INTEGER,
  device_id INTEGER REFERENCES t_device,
  context INTEGER,
  stream INTEGER,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER,
  registers INTEGER,
  static_shared_bytes INTEGER,
  dynamic_shared_bytes INTEGER,
  source_memory TEXT,
  target_memory TEXT,
  source_device INTEGER,
  source_context INTEGER,
  target_device INTEGER,
  target_context INTEGER,
  PRIMARY KEY (run_id, shape)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_activity_shape_device ON t_activity_shape (device_id);

CREATE TABLE t_activity (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  activity_id INTEGER NOT NULL,
  shape INTEGER NOT NULL,
  start_ns INTEGER,
  duration_ns INTEGER,
  bytes INTEGER,
  faults INTEGER,
  correlation INTEGER,
  address INTEGER,
  PRIMARY KEY (run_id, activity_id)
) STRICT, WITHOUT ROWID;
