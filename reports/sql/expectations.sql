-- SPDX-License-Identifier: MIT
SELECT * FROM expectations WHERE run_id = :run ORDER BY launch_id
