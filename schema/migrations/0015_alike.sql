-- SPDX-License-Identifier: MIT
-- Which launches of a run are alike: equal in their own columns, their counters, the cache state of their timing and their
-- explanation. A profiled program launches a kernel a million times; a reader needs the first launch of each kind. The rows
-- follow from those of other tables (schema/alike/alike.h), so that merge, push and pull leave them out.
--
-- A row is a range of launches whose numbers have no gap. `kinds` holds 4 bytes a launch, the lowest first: the number of its
-- kind. Kinds count from 0 in the order of their first launches. The highest bit says that the values of counters differ.
CREATE TABLE t_alike (
  run_id INTEGER NOT NULL REFERENCES t_run ON DELETE CASCADE,
  first_launch_id INTEGER NOT NULL,
  kinds BLOB NOT NULL,
  PRIMARY KEY (run_id, first_launch_id)
) STRICT;

-- Reports ask for these launches, and mostly there are none.
CREATE INDEX t_launch_failed ON t_launch (run_id) WHERE outcome = 'failed';
CREATE INDEX t_launch_spills ON t_launch (run_id)
  WHERE coalesce(spill_load_bytes, 0) + coalesce(spill_store_bytes, 0) > 0;
