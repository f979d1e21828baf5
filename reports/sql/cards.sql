-- SPDX-License-Identifier: MIT
-- The median times of a run's launches, by card.
SELECT d.device_id, d.title, d.uuid, l.family, l.variant, l.size, l.grid, l.block, t.median_ns
FROM launches l
JOIN devices d ON d.run_id = l.run_id AND d.device_id = l.device_id
JOIN timings t ON t.launch_id = l.launch_id
WHERE l.run_id = :run
ORDER BY d.ordinal, d.device_id, l.launch_id
