-- SPDX-License-Identifier: MIT
-- The samples of what was timed more than once: how much they scatter. CROSS JOIN: a profiled program has a million
-- launches of one sample, so the timings are read first.
SELECT s.launch_id, s.duration_ns
FROM timings t CROSS JOIN samples s USING (run_id, launch_id)
WHERE t.run_id = :run AND t.samples > 1
ORDER BY s.launch_id
