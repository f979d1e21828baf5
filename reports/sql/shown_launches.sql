-- SPDX-License-Identifier: MIT
-- The first :most launches of a run with their times.
SELECT l.*, (SELECT t.median_ns FROM timings t WHERE t.launch_id = l.launch_id) AS duration_ns
FROM launches l
WHERE l.run_id = :run
ORDER BY l.launch_id
LIMIT :most
