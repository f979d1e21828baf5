-- How well the median of each launch's timing is known.
SELECT launch_id, relative_confidence FROM timings WHERE run_id = :run AND median_ns IS NOT NULL ORDER BY launch_id
