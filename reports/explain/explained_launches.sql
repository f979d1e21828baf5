-- SPDX-License-Identifier: MIT
-- The launches of a run with what tells them apart, for DistinctLaunches.
SELECT l.launch_id, l.family, l.variant, l.size, l.grid, l.block, l.device_id, l.outcome, l.reason AS failure,
       e.explanation_id, e.reason
FROM launches l JOIN explanations e USING (run_id, launch_id)
WHERE l.run_id = :run
ORDER BY l.launch_id
