-- SPDX-License-Identifier: MIT
-- The run's part of the view, as it is: the CSV report.
SELECT * FROM results WHERE run_id = :run ORDER BY launch_id
