-- Derived metrics of chosen launches; both lists are JSON arrays.
SELECT launch_id, metric, value, grade
FROM results
WHERE launch_id IN (SELECT value FROM json_each(:launches))
  AND metric IN (SELECT value FROM json_each(:metrics)) AND value IS NOT NULL
