-- SPDX-License-Identifier: MIT
-- One change that was tried against a finding, on the addresses that were recorded.
--
-- run_id: the run
-- launch_id: the launch
-- finding_id: the finding
-- finding_rank: its rank in the launch
-- rank: 1 is the best of the finding; those advised come first
-- {remedy described}
CREATE VIEW remedies AS
SELECT
  l.run_id,
  l.launch_id,
  l.launch_id || '.' || f.finding AS finding_id,
  f.finding AS finding_rank,
  f.remedy AS rank,
  {remedy}
FROM t_launch l
  JOIN t_explained e ON e.launch_id = l.launch_id
  JOIN t_remedy f ON f.explanation_id = e.explanation_id;
