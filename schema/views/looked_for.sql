-- SPDX-License-Identifier: MIT
-- One kind of finding in one launch: whether it was looked for.
--
-- run_id: the run
-- launch_id: the launch
-- kind: as in findings
-- words: what is looked for: bank conflicts
-- reason: why it could not be looked for; NULL where it was
CREATE VIEW looked_for AS
SELECT
  l.run_id,
  l.launch_id,
  k.name AS kind,
  k.words,
  CASE
    WHEN l.outcome = 'failed' THEN 'the launch failed'
    WHEN e.launch_id IS NULL THEN {not_explained}
    WHEN i.kind IS NULL THEN 'the warpmeter that recorded it did not look for it'
    ELSE i.reason
  END AS reason
FROM t_launch l
  JOIN t_device d ON d.device_id = l.device_id
  JOIN t_finding_kind k ON true
  LEFT JOIN t_explained e ON e.launch_id = l.launch_id
  LEFT JOIN t_looked_for i ON i.explanation_id = e.explanation_id AND i.kind = k.name
WHERE k.is_measured = 0 OR i.kind IS NOT NULL;
