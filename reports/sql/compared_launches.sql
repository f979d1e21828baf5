-- SPDX-License-Identifier: MIT
-- The launches of a run, those that are alike in one row with their numbers as a list of text; the cache state of those
-- that were timed. The device goes by its name: two cards of one name are compared with each other, and titles differ
-- from database to database. The launches of a program are not planned.
SELECT l.device_id,
       (SELECT d.name FROM devices d WHERE d.run_id = l.run_id AND d.device_id = l.device_id) AS device,
       l.device AS title, l.backend, l.family, l.variant, l.size, l.grid, l.block,
       (SELECT r.planned_launches IS NULL FROM runs r WHERE r.run_id = l.run_id) AS is_of_program,
       l.outcome, l.reason, (SELECT t.cache FROM timings t WHERE t.launch_id = l.launch_id) AS cache,
       count(*) AS number, group_concat(l.launch_id) AS launches
FROM launches l
WHERE l.run_id = :run
GROUP BY l.device_id, l.family, l.variant, l.size, l.grid, l.block, l.outcome, l.reason, cache
ORDER BY min(l.launch_id)
