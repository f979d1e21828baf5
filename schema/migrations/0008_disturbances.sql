-- SPDX-License-Identifier: MIT
-- The possible disturbances of a run's times, as found on one of its devices before or after the measuring;
-- or, in `reason`, why that could not be found out. `process_id` is 0 and texts are empty where there is none, for a
-- key holds no NULL: runs of a job's tasks are joined in one, where the same thing seen twice is one row.
CREATE TABLE t_disturbance (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  device_id INTEGER NOT NULL REFERENCES t_device,
  phase TEXT NOT NULL CHECK (phase IN ('before', 'after')),
  kind TEXT NOT NULL,
  process_id INTEGER NOT NULL,
  what TEXT NOT NULL,
  reason TEXT NOT NULL,
  is_felt INTEGER NOT NULL CHECK (is_felt IN (0, 1)),
  process_name TEXT,
  memory_mib REAL,
  busy REAL,
  PRIMARY KEY (run_id, device_id, phase, kind, process_id, what, reason)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_disturbance_device ON t_disturbance (device_id);

-- Which devices a run was given and by what job: variables of its environment.
CREATE TABLE t_environment (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run_id, name, value)
) STRICT, WITHOUT ROWID;

-- Cards of one name are told apart in every view.
CREATE INDEX t_device_name ON t_device (name, uuid, ordinal);

-- The compilers' output for the kernels of a run, for those that ask for lines.
CREATE TABLE t_code (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  file TEXT NOT NULL,
  kernel TEXT NOT NULL,
  form TEXT NOT NULL CHECK (form IN ('PTX', 'machine code')),
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, file, kernel, form)
) STRICT, WITHOUT ROWID;
