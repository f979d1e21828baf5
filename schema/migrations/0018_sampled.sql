-- SPDX-License-Identifier: MIT
-- The grade 'sampled' stands before 'ptx' and 'unavailable', whose numbers grow by one. A CHECK of t_value has them, so that
-- the table is made again. Views that read it are replaced after every migration.
PRAGMA legacy_alter_table = ON;
ALTER TABLE t_value RENAME TO t_value_before;
CREATE TABLE t_value (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  counter_id INTEGER NOT NULL,
  value REAL,
  grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 5 AND (value IS NULL) = (grade = 5)),
  reason_id INTEGER,
  PRIMARY KEY (launch_id, counter_id)
) STRICT, WITHOUT ROWID;
INSERT INTO t_value (launch_id, counter_id, value, grade, reason_id)
  SELECT launch_id, counter_id, value, grade + (grade >= 3), reason_id FROM t_value_before ORDER BY launch_id, counter_id;
DROP TABLE t_value_before;
PRAGMA legacy_alter_table = OFF;
UPDATE t_line SET grade = grade + 1 WHERE grade >= 3;
UPDATE t_finding SET grade = grade + 1 WHERE grade >= 3;

-- The bounds of estimates: counters and metrics of a launch whose blocks were counted in part. `confidence_percent` of such
-- intervals hold the value that counting all blocks gives.
CREATE TABLE t_interval (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  metric TEXT NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  PRIMARY KEY (launch_id, metric)
) STRICT, WITHOUT ROWID;
