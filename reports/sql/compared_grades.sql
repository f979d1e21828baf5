-- The values of some launches of a run with their grades; :launches is a JSON array of ids.
SELECT launch_id, counter_id, value, grade
FROM counters
WHERE run_id = :run AND value IS NOT NULL AND launch_id IN (SELECT value FROM json_each(:launches))
