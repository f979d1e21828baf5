-- SPDX-License-Identifier: MIT
-- The tables. They are private: programs and people read the views.
--
-- Names that repeat in every row (counters, reasons) are stored once and referred to by number. Rows
-- that belong to a launch are clustered by it, so that one launch or run is read without touching
-- the rest, and they go when it goes. `t_value` refers to counters and reasons without a foreign key: each
-- would cost a lookup a row, a third of the time that writing takes, and neither is ever deleted.

CREATE TABLE t_meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The views that this program made, so that it can replace them and leave a user's own alone.
CREATE TABLE t_view (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- From the strongest to the weakest: the weakest of several is the largest number. The rows are written from
-- schema/records.h.
CREATE TABLE t_grade (
  grade INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE t_reason (
  reason_id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- Catalogue counters, and PerfWorks names that were asked for.
CREATE TABLE t_counter (
  counter_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT
) STRICT;

-- value = scale × Σ(factor × counter) / Σ(factor × counter). Replaced from the catalogue when it
-- changes. A launch has the metric only if it has `anchor_id`, a counter of the numerator.
CREATE TABLE t_metric (
  metric_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  scale REAL NOT NULL,
  numerator_terms INTEGER NOT NULL,
  denominator_terms INTEGER NOT NULL,
  anchor_id INTEGER REFERENCES t_counter,
  undefined TEXT NOT NULL -- the reason when the denominator is 0
) STRICT;
CREATE INDEX t_metric_anchor ON t_metric (anchor_id);

CREATE TABLE t_term (
  metric_id INTEGER NOT NULL REFERENCES t_metric ON DELETE CASCADE,
  is_denominator INTEGER NOT NULL CHECK (is_denominator IN (0, 1)),
  counter_id INTEGER NOT NULL REFERENCES t_counter,
  factor REAL NOT NULL,
  PRIMARY KEY (metric_id, is_denominator, counter_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_run (
  run_id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  started TEXT NOT NULL, -- UTC, ISO 8601 with milliseconds
  ended TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('running', 'done', 'failed', 'interrupted')),
  reason TEXT,
  backend TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  git_revision TEXT NOT NULL,
  cuda_version TEXT NOT NULL,
  host TEXT NOT NULL,
  command TEXT NOT NULL,
  label TEXT,
  -- The process that writes it, to notice when it is gone. A process id means something only within one
  -- boot and one namespace, and is used again: the start time tells two users of it apart.
  process_host TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  process_namespace TEXT NOT NULL,
  process_id INTEGER NOT NULL,
  process_start INTEGER NOT NULL
) STRICT;
CREATE INDEX t_run_label ON t_run (label);
CREATE INDEX t_run_running ON t_run (outcome) WHERE outcome = 'running';

CREATE TABLE t_device (
  device_id INTEGER PRIMARY KEY,
  backend TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  chip TEXT NOT NULL,
  compute_capability INTEGER NOT NULL,
  uuid TEXT NOT NULL,
  driver TEXT NOT NULL,
  multiprocessors INTEGER,
  memory_bytes INTEGER,
  l2_bytes INTEGER
) STRICT;
CREATE INDEX t_device_identity ON t_device (uuid, ordinal, name);

CREATE TABLE t_run_device (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  device_id INTEGER NOT NULL REFERENCES t_device,
  PRIMARY KEY (run_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_run_device_device ON t_run_device (device_id);

CREATE TABLE t_device_state (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  device_id INTEGER NOT NULL REFERENCES t_device,
  phase TEXT NOT NULL CHECK (phase IN ('before', 'after')),
  sm_clock_mhz REAL,
  memory_clock_mhz REAL,
  temperature_c REAL,
  power_w REAL,
  throttle_reasons TEXT,
  ecc INTEGER,
  mig INTEGER,
  persistence INTEGER,
  unavailable TEXT,
  PRIMARY KEY (run_id, device_id, phase)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_device_state_device ON t_device_state (device_id);

CREATE TABLE t_launch (
  launch_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  device_id INTEGER NOT NULL REFERENCES t_device,
  family TEXT NOT NULL,
  variant TEXT NOT NULL,
  size INTEGER,
  kernel TEXT NOT NULL,
  grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  dynamic_shared_bytes INTEGER NOT NULL,
  static_shared_bytes INTEGER,
  registers INTEGER,
  useful_bytes_read INTEGER,
  useful_bytes_written INTEGER,
  flops INTEGER,
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  is_ceiling INTEGER NOT NULL CHECK (is_ceiling IN (0, 1)),
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed')),
  reason TEXT,
  timing_reason TEXT -- why there is no timing
) STRICT;
CREATE INDEX t_launch_run ON t_launch (run_id);
CREATE INDEX t_launch_variant ON t_launch (family, variant);
CREATE INDEX t_launch_device ON t_launch (device_id);

-- Counters as measured. NULL has the grade 'unavailable' and a reason.
CREATE TABLE t_value (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  counter_id INTEGER NOT NULL,
  value REAL,
  grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4 AND (value IS NULL) = (grade = 4)),
  reason_id INTEGER,
  PRIMARY KEY (launch_id, counter_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_timing (
  launch_id INTEGER PRIMARY KEY REFERENCES t_launch ON DELETE CASCADE,
  cache TEXT NOT NULL CHECK (cache IN ('cold', 'warm')),
  samples INTEGER NOT NULL CHECK (samples > 0),
  median_ns REAL NOT NULL,
  min_ns REAL NOT NULL,
  mean_ns REAL NOT NULL,
  stddev_ns REAL,
  relative_confidence REAL NOT NULL,
  stopped_by TEXT NOT NULL
) STRICT;

CREATE TABLE t_sample (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  sample INTEGER NOT NULL,
  duration_ns REAL NOT NULL,
  PRIMARY KEY (launch_id, sample)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_expectation (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  expectation INTEGER NOT NULL,
  metric TEXT NOT NULL,
  relation TEXT NOT NULL CHECK (relation IN ('==', '<=', '>=')),
  expected REAL NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (launch_id, expectation)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_line (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  entry INTEGER NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  text TEXT NOT NULL,
  access TEXT NOT NULL,
  requests INTEGER NOT NULL,
  transactions INTEGER NOT NULL,
  ideal INTEGER NOT NULL,
  grade INTEGER NOT NULL,
  PRIMARY KEY (launch_id, entry)
) STRICT, WITHOUT ROWID;
