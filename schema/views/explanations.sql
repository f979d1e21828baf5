-- SPDX-License-Identifier: MIT
-- The explanation of a launch, and which launches were told the same.
--
-- run_id: the run
-- launch_id: the launch
-- explanation_id: launches with the same number have the same findings and remedies; NULL where there is none
-- findings: how many findings it has; NULL where nothing was looked for
-- reason: why nothing was looked for; else NULL
CREATE VIEW explanations AS
SELECT
  l.run_id,
  l.launch_id,
  e.explanation_id,
  CASE
    WHEN x.was_made = 1 THEN (SELECT count(*) FROM t_finding f WHERE f.explanation_id = e.explanation_id)
  END AS findings,
  CASE
    WHEN l.outcome = 'failed' THEN 'the launch failed'
    WHEN e.launch_id IS NULL THEN {not_explained}
    WHEN x.was_made = 0 THEN (SELECT i.reason FROM t_looked_for i WHERE i.explanation_id = e.explanation_id LIMIT 1)
  END AS reason
FROM t_launch l
  JOIN t_device d ON d.device_id = l.device_id
  LEFT JOIN t_explained e ON e.launch_id = l.launch_id
  LEFT JOIN t_explanation x ON x.explanation_id = e.explanation_id;
