-- SPDX-License-Identifier: MIT
-- One variable of the environment of one run that says which devices it was given, or by what job: CUDA_VISIBLE_DEVICES,
-- SLURM_JOB_ID and others; only those that were set.
--
-- run_id: the run
-- name: the variable
-- value: what it held; a run that was joined from the tasks of a job has a row for each value
CREATE VIEW environment AS
SELECT s.run_id, s.name, s.value FROM t_environment s;
