-- SPDX-License-Identifier: MIT
-- Some launches with their device, their occupancy, and the bytes that they cannot do without: each once.
-- :launches is a JSON array.
SELECT
  l.launch_id, l.device_id, d.name AS device, d.backend, d.compute_capability,
  l.useful_bytes_read, l.useful_bytes_written, l.theoretical_occupancy, l.occupancy_limiter, l.resources_reason
FROM launches l
JOIN devices d ON d.run_id = l.run_id AND d.device_id = l.device_id
WHERE l.launch_id IN (SELECT value FROM json_each(:launches))
