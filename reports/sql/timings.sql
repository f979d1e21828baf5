-- SPDX-License-Identifier: MIT
SELECT * FROM timings WHERE run_id = :run ORDER BY launch_id
