-- SPDX-License-Identifier: MIT
-- Private. One row is one metric of one launch, derived from its counters; `complete` says whether all of them
-- were recorded (a row is there when the first one was). The formulas are rows of t_metric and t_term, copied
-- from the catalogue; here is what is done with them, for `results` and `expectations`. `comparison` has the
-- same formulas as SQL (schema/view_sql.h), and tests hold both to the same values.
--
-- Scalar subqueries rather than GROUP BY: SQLite merges such a view into the query that uses it, so that
-- one launch costs lookups by key and not a scan. A value is NULL when an input is missing or
-- unavailable, or the denominator is 0. `grade` is a number of t_grade.
CREATE VIEW v_derived AS
SELECT
  a.launch_id,
  m.metric_id,
  m.name AS metric,
  m.scale * (
    SELECT CASE WHEN count(v.value) = m.numerator_terms + m.denominator_terms THEN
      total(t.factor * v.value) FILTER (WHERE t.is_denominator = 0)
        / CASE WHEN m.denominator_terms = 0 THEN 1
          ELSE nullif(total(t.factor * v.value) FILTER (WHERE t.is_denominator = 1), 0) END
    END
    FROM t_term t JOIN t_value v ON v.launch_id = a.launch_id AND v.counter_id = t.counter_id
    WHERE t.metric_id = m.metric_id
  ) AS value,
  m.unit,
  (
    SELECT CASE
      WHEN total(t.factor * v.value) FILTER (WHERE t.is_denominator = 1) = 0 AND m.denominator_terms > 0
        THEN {grade unavailable}
      ELSE max(v.grade)
    END
    FROM t_term t JOIN t_value v ON v.launch_id = a.launch_id AND v.counter_id = t.counter_id
    WHERE t.metric_id = m.metric_id
  ) AS grade,
  CASE
    WHEN m.denominator_terms > 0 AND (
      SELECT max(v.grade) < {grade unavailable} AND total(t.factor * v.value) FILTER (WHERE t.is_denominator = 1) = 0
      FROM t_term t JOIN t_value v ON v.launch_id = a.launch_id AND v.counter_id = t.counter_id
      WHERE t.metric_id = m.metric_id
    ) THEN m.undefined
    ELSE (
      SELECT r.text
      FROM t_term t
        JOIN t_value v ON v.launch_id = a.launch_id AND v.counter_id = t.counter_id
        JOIN t_reason r ON r.reason_id = v.reason_id
      WHERE t.metric_id = m.metric_id
      ORDER BY v.grade DESC, t.is_denominator, t.counter_id
      LIMIT 1
    )
  END AS reason,
  (
    SELECT count(*)
    FROM t_term t JOIN t_value v ON v.launch_id = a.launch_id AND v.counter_id = t.counter_id
    WHERE t.metric_id = m.metric_id
  ) = m.numerator_terms + m.denominator_terms AS complete
FROM t_value a JOIN t_metric m ON m.anchor_id = a.counter_id;
