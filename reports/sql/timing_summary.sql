-- SPDX-License-Identifier: MIT
-- How the run was timed: one row a cache state.
SELECT cache, MIN(samples) AS fewest_samples, MAX(samples) AS most_samples
FROM timings
WHERE run_id = :run AND median_ns IS NOT NULL
GROUP BY cache
ORDER BY cache
