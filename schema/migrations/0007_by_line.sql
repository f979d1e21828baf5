-- SPDX-License-Identifier: MIT
-- The waits of a launch's warps, by source line: sampled on a GPU in a run of its own. Line 0 of file '' holds the
-- samples of instructions without a line. `idle_samples`: of them those in which the scheduler issued nothing.
CREATE TABLE t_stall (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  reason TEXT NOT NULL,
  text TEXT NOT NULL,
  samples INTEGER NOT NULL,
  idle_samples INTEGER NOT NULL,
  PRIMARY KEY (launch_id, file, line, reason)
) STRICT, WITHOUT ROWID;

-- Kinds of findings that only a GPU can show: looked for where a launch was timed or sampled.
ALTER TABLE t_finding_kind ADD COLUMN is_measured INTEGER NOT NULL DEFAULT 0 CHECK (is_measured IN (0, 1));

-- The source files that a run's lines are of, as they were when it was measured.
CREATE TABLE t_source (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, file)
) STRICT, WITHOUT ROWID;
