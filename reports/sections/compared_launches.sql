-- The launches of a run, and the cache state of those that were timed.
SELECT l.launch_id, l.device_id, l.device, l.backend, l.family, l.variant, l.size, l.grid, l.block,
       l.outcome, l.reason, (SELECT t.cache FROM timings t WHERE t.launch_id = l.launch_id) AS cache
FROM launches l
WHERE l.run_id = :run
ORDER BY l.launch_id
