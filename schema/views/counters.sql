-- SPDX-License-Identifier: MIT
-- One counter of one launch, as it was measured: the part of `results` that is stored and not derived. It
-- is the fast way to read very many.
--
-- run_id: the run
-- launch_id: the launch
-- counter_id: number of the counter in this database
-- counter: name in the catalogue, or a full PerfWorks name
-- value: the count; NULL when it is unavailable
-- unit: unit of the value; NULL for PerfWorks names
-- grade: {grades}, as in results
CREATE VIEW counters AS
SELECT
  l.run_id,
  v.launch_id,
  v.counter_id,
  (SELECT c.name FROM t_counter c WHERE c.counter_id = v.counter_id) AS counter,
  v.value,
  (SELECT c.unit FROM t_counter c WHERE c.counter_id = v.counter_id) AS unit,
  (SELECT g.name FROM t_grade g WHERE g.grade = v.grade) AS grade
FROM t_launch l JOIN t_value v ON v.launch_id = l.launch_id;
