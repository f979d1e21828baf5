-- SPDX-License-Identifier: MIT
-- How many launches the run was going to store, so that one that ended before its end can say what it lacks.
ALTER TABLE t_run ADD COLUMN planned_launches INTEGER;
