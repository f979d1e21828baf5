-- SPDX-License-Identifier: MIT
-- The predicted value of a launch's counter with a remedy, by the rules that count it today.
--
-- run_id: the run
-- launch_id: the launch
-- finding_id: the finding
-- finding_rank: its rank in the launch
-- remedy_rank: the remedy's rank in the finding
-- name: the remedy
-- counter: the counter, as in counters
-- measured: what it is in this launch; NULL when it was not counted
-- predicted: what it would be
CREATE VIEW predictions AS
SELECT
  l.run_id,
  l.launch_id,
  l.launch_id || '.' || r.finding AS finding_id,
  r.finding AS finding_rank,
  r.remedy AS remedy_rank,
  r.name,
  (SELECT c.name FROM t_counter c WHERE c.counter_id = p.counter_id) AS counter,
  (SELECT v.value FROM t_value v WHERE v.launch_id = l.launch_id AND v.counter_id = p.counter_id) AS measured,
  p.value AS predicted
FROM t_launch l
  JOIN t_explained e ON e.launch_id = l.launch_id
  JOIN t_remedy r ON r.explanation_id = e.explanation_id
  JOIN t_prediction p ON p.explanation_id = r.explanation_id AND p.finding = r.finding AND p.remedy = r.remedy;
