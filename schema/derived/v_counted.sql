-- SPDX-License-Identifier: MIT
-- Private. One row is one counter of one launch. `grade` is a number of t_grade.
CREATE VIEW v_counted AS
SELECT
  v.launch_id,
  c.name AS metric,
  v.value,
  c.unit,
  v.grade,
  (SELECT r.text FROM t_reason r WHERE r.reason_id = v.reason_id) AS reason
FROM t_value v JOIN t_counter c ON c.counter_id = v.counter_id;
