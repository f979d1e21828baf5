-- SPDX-License-Identifier: MIT
-- One thing that a launch does at a cost, and where: what `explain` says.
--
-- run_id: the run
-- launch_id: the launch
-- finding_id: the launch and the rank, 12.1; remedies and predictions have it too
-- rank: 1 is the worst of the launch
-- {finding described}
CREATE VIEW findings AS
SELECT
  l.run_id,
  l.launch_id,
  l.launch_id || '.' || f.finding AS finding_id,
  f.finding AS rank,
  {finding}
FROM t_launch l
  JOIN t_explained e ON e.launch_id = l.launch_id
  JOIN t_finding f ON f.explanation_id = e.explanation_id;
