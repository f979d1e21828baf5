-- SPDX-License-Identifier: MIT
-- Why launches have no time.
SELECT launch_id, reason FROM results
WHERE run_id = :run AND metric = 'duration' AND value IS NULL
