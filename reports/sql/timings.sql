SELECT * FROM timings WHERE run_id = :run ORDER BY launch_id
