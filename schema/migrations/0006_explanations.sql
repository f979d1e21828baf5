-- SPDX-License-Identifier: MIT
-- The findings of a launch. Launches of one kernel mostly have the same, so each explanation is there once, under a
-- digest of all of it.
CREATE TABLE t_finding_kind (
  kind INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  words TEXT NOT NULL
) STRICT;

CREATE TABLE t_explanation (
  explanation_id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  was_made INTEGER NOT NULL CHECK (was_made IN (0, 1))
) STRICT;

CREATE TABLE t_explained (
  launch_id INTEGER PRIMARY KEY REFERENCES t_launch ON DELETE CASCADE,
  explanation_id INTEGER NOT NULL REFERENCES t_explanation
) STRICT;
CREATE INDEX t_explained_explanation ON t_explained (explanation_id);

-- `reason`: why it could not be looked for.
CREATE TABLE t_looked_for (
  explanation_id INTEGER NOT NULL REFERENCES t_explanation ON DELETE CASCADE,
  kind TEXT NOT NULL,
  reason TEXT,
  PRIMARY KEY (explanation_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_finding (
  explanation_id INTEGER NOT NULL REFERENCES t_explanation ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  kind TEXT NOT NULL,
  file TEXT,
  line INTEGER,
  text TEXT,
  object TEXT,
  access TEXT,
  evidence TEXT NOT NULL,
  requests INTEGER NOT NULL,
  transactions INTEGER NOT NULL,
  ideal INTEGER NOT NULL,
  other_transactions INTEGER NOT NULL,
  share REAL NOT NULL,
  share_of TEXT,
  grade INTEGER NOT NULL,
  grade_reason TEXT,
  lanes TEXT,
  PRIMARY KEY (explanation_id, finding)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_remedy (
  explanation_id INTEGER NOT NULL REFERENCES t_explanation ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  remedy INTEGER NOT NULL,
  name TEXT NOT NULL,
  change TEXT,
  words TEXT,
  is_advised INTEGER NOT NULL CHECK (is_advised IN (0, 1)),
  transactions INTEGER NOT NULL,
  other_transactions INTEGER NOT NULL,
  shared_bytes INTEGER,
  blocks INTEGER,
  lanes TEXT,
  PRIMARY KEY (explanation_id, finding, remedy)
) STRICT, WITHOUT ROWID;

CREATE TABLE t_prediction (
  explanation_id INTEGER NOT NULL REFERENCES t_explanation ON DELETE CASCADE,
  finding INTEGER NOT NULL,
  remedy INTEGER NOT NULL,
  counter_id INTEGER NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (explanation_id, finding, remedy, counter_id)
) STRICT, WITHOUT ROWID;
