-- SPDX-License-Identifier: MIT
SELECT * FROM devices WHERE run_id = :run ORDER BY device_id
