-- SPDX-License-Identifier: MIT
-- The samples of what was timed more than once: how much they scatter.
SELECT launch_id, duration_ns
FROM samples
WHERE run_id = :run
  AND launch_id IN (SELECT launch_id FROM timings WHERE run_id = :run AND samples > 1)
