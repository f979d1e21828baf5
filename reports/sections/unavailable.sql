SELECT metric, COALESCE(reason, 'no reason was given') AS reason, launch_id
FROM results
WHERE run_id = :run AND value IS NULL
ORDER BY launch_id
