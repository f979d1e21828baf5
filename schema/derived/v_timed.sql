-- SPDX-License-Identifier: MIT
-- Private. One row is one metric of one launch that ended well, from its timing: the metrics without
-- counters, by the formulas of the catalogue. Bytes a nanosecond are GB/s. `grade` is a number of t_grade.
CREATE VIEW v_timed AS
SELECT
  launch_id,
  metric,
  value,
  unit,
  CASE WHEN value IS NULL THEN {grade unavailable} ELSE {grade measured} END AS grade,
  CASE
    WHEN value IS NOT NULL THEN NULL
    WHEN median_ns IS NULL THEN coalesce(timing_reason, 'it was not timed')
    WHEN median_ns = 0 THEN undefined
    ELSE 'its useful bytes are not known'
  END AS reason
FROM (
  SELECT
    l.launch_id,
    m.name AS metric,
    m.unit,
    m.undefined,
    l.timing_reason,
    t.median_ns,
    CASE m.name
      {timed}
    END AS value
  FROM t_launch l
    JOIN t_metric m ON m.name IN ({timed names})
    LEFT JOIN t_timing t ON t.launch_id = l.launch_id
  WHERE l.outcome = 'done'
) f;
