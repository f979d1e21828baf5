-- Everything that some launch of the run has a row for.
SELECT DISTINCT metric FROM results WHERE run_id = :run ORDER BY metric
