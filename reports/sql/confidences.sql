-- SPDX-License-Identifier: MIT
-- How well the median of each launch's timing is known; a single sample does not tell.
SELECT launch_id, relative_confidence
FROM timings
WHERE run_id = :run AND relative_confidence IS NOT NULL
ORDER BY launch_id
