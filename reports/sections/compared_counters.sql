-- Every value that was counted in a run; numbers and short texts only, for there may be a million.
SELECT launch_id, counter_id, value, grade FROM counters WHERE run_id = :run AND value IS NOT NULL
