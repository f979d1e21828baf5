-- The figures that tables show; :metrics is a JSON array of names. The confidence of a timing is
-- one of them under the name relative_confidence.
SELECT launch_id, metric, value, grade, reason
FROM results
WHERE run_id = :run AND metric IN (SELECT value FROM json_each(:metrics))
UNION ALL
SELECT launch_id, 'relative_confidence', relative_confidence, 'measured', NULL
FROM timings
WHERE run_id = :run AND median_ns IS NOT NULL
