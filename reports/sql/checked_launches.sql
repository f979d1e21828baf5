-- SPDX-License-Identifier: MIT
-- The launches of a run, in their order: gates are judged for each of them.
SELECT launch_id, device AS title, family, variant, size, grid, block, outcome, reason
FROM launches
WHERE run_id = :run
ORDER BY launch_id
