-- SPDX-License-Identifier: MIT
-- The expected cost of one launch, and whether it holds.
--
-- run_id: the run
-- launch_id: the launch
-- family: family of kernels
-- variant: variant of the family
-- size: the family's number; NULL for families of one fixed size
-- metric: the metric, as in results
-- relation: ==, <= or >=; equal means within a billionth, of whole numbers the same
-- expected: the value on the right of the relation
-- measured: the value on its left; NULL when it is unavailable
-- grade: grade of the measured value, as in results
-- verdict: holds, broken, or inconclusive: there is no value, or one of grade sampled or ptx, which hardware may not share
-- reason: why it is expected, in words
-- verdict_reason: why the verdict is inconclusive; else NULL
CREATE VIEW expectations AS
SELECT
  run_id,
  launch_id,
  family,
  variant,
  size,
  metric,
  relation,
  expected,
  measured,
  (SELECT g.name FROM t_grade g WHERE g.grade = e.grade) AS grade,
  CASE
    WHEN measured IS NULL THEN 'inconclusive'
    WHEN grade IN ({grade sampled}, {grade ptx}) THEN 'inconclusive'
    WHEN CASE relation
      WHEN '==' THEN abs(measured - expected) <= tolerance
      WHEN '<=' THEN measured <= expected + tolerance
      WHEN '>=' THEN measured >= expected - tolerance
    END THEN 'holds'
    ELSE 'broken'
  END AS verdict,
  reason,
  CASE
    WHEN outcome = 'failed' THEN 'the launch failed: ' || launch_reason
    WHEN measured IS NULL THEN coalesce(
      (SELECT f.reason FROM v_counted f WHERE f.launch_id = e.launch_id AND f.metric = e.metric),
      (SELECT f.reason FROM v_derived f
       WHERE f.launch_id = e.launch_id AND f.metric = e.metric AND f.complete),
      (SELECT f.reason FROM v_timed f WHERE f.launch_id = e.launch_id AND f.metric = e.metric),
      (SELECT f.reason FROM v_resources f WHERE f.launch_id = e.launch_id AND f.metric = e.metric),
      'it was not measured'
    )
    WHEN grade = {grade ptx} THEN 'it was counted from PTX: the machine code may differ'
    WHEN grade = {grade sampled} THEN 'it was estimated from some of its blocks: count all of them'
  END AS verdict_reason
FROM (
  SELECT
    run_id, launch_id, family, variant, size, outcome, launch_reason, metric, relation, expected, reason, measured,
    CASE WHEN measured IS NULL THEN {grade unavailable} ELSE grade END AS grade,
    CASE WHEN measured = round(measured) AND expected = round(expected) THEN 0 ELSE 1e-9 * max(1, abs(expected)) END
      AS tolerance
  FROM (
    SELECT
      l.run_id, l.launch_id, l.family, l.variant, l.size, l.outcome, l.reason AS launch_reason,
      x.metric, x.relation, x.expected, x.reason,
      -- A name is that of a counter, of a derived metric, of one from the timing or of a resource, never of two.
      coalesce(
        (SELECT f.value FROM v_counted f WHERE f.launch_id = x.launch_id AND f.metric = x.metric),
        (SELECT f.value FROM v_derived f WHERE f.launch_id = x.launch_id AND f.metric = x.metric),
        (SELECT f.value FROM v_timed f WHERE f.launch_id = x.launch_id AND f.metric = x.metric),
        (SELECT f.value FROM v_resources f WHERE f.launch_id = x.launch_id AND f.metric = x.metric)
      ) AS measured,
      coalesce(
        (SELECT f.grade FROM v_counted f WHERE f.launch_id = x.launch_id AND f.metric = x.metric),
        (SELECT f.grade FROM v_derived f WHERE f.launch_id = x.launch_id AND f.metric = x.metric),
        (SELECT f.grade FROM v_resources f WHERE f.launch_id = x.launch_id AND f.metric = x.metric),
        {grade measured}
      ) AS grade
    FROM t_launch l JOIN t_expectation x ON x.launch_id = l.launch_id
    -- One row each, as it is: a group is not merged into the outer query, which would compute the figure at
    -- each place that names it.
    {once l.run_id, l.launch_id, x.expectation}
  ) m
) e;
