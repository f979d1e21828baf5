-- SPDX-License-Identifier: MIT
-- The power, clock and temperature over time of each launch whose energy was measured.
SELECT l.launch_id, l.device_id, l.family, l.variant, l.size, s.time_s, s.power_w, s.sm_clock_mhz, s.temperature_c
FROM power_samples s CROSS JOIN launches l USING (run_id, launch_id)
WHERE s.run_id = :run
ORDER BY s.launch_id, s.sample
