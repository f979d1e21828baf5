-- SPDX-License-Identifier: MIT
-- The bytes that a copying variant moved on the device in the latest other run that timed one, where it wrote (and
-- read) most bytes.
SELECT run_id, family, variant, size, achieved_bandwidth
FROM launches JOIN comparison USING (run_id, launch_id, family, variant, size)
WHERE is_ceiling = 1 AND coalesce(flops, 0) = 0 AND device_id = :device AND run_id <> :run
  AND achieved_bandwidth > 0
ORDER BY run_id DESC, useful_bytes_written DESC, achieved_bandwidth DESC
LIMIT 1
