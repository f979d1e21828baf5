-- The ten accesses that cost most beyond their ideal. Repeated launches of a variant count once.
SELECT family, variant, size, file, line, access, text, grade,
       MAX(requests) AS requests, MAX(transactions) AS transactions, MAX(ideal) AS ideal,
       MAX(excess) AS excess
FROM launches JOIN lines USING (run_id, launch_id)
WHERE run_id = :run AND excess > 0
GROUP BY family, variant, size, file, line, access
ORDER BY MAX(excess) DESC, family, variant, size, file, line, access
LIMIT 10
