-- SPDX-License-Identifier: MIT
SELECT * FROM disturbances WHERE run_id = :run ORDER BY device_id, disturbs DESC, phase DESC, busy DESC, kind, process_id
