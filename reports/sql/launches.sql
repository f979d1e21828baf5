-- SPDX-License-Identifier: MIT
SELECT * FROM launches WHERE run_id = :run ORDER BY launch_id
