-- SPDX-License-Identifier: MIT
SELECT * FROM device_states WHERE run_id = :run ORDER BY device_id, phase DESC
