-- Every access of every source line. Repeated launches of a variant count once.
SELECT family, variant, size, file, line, access, text, grade,
       MAX(requests) AS requests, MAX(transactions) AS transactions, MAX(ideal) AS ideal,
       MAX(excess) AS excess, MIN(efficiency) AS efficiency
FROM launches JOIN lines USING (run_id, launch_id)
WHERE run_id = :run
GROUP BY family, variant, size, file, line, access
ORDER BY file, line, access, family, variant, size
