-- SPDX-License-Identifier: MIT
-- The metrics that gates and choices read; :metrics is a JSON array of names.
SELECT launch_id, metric, value, grade, reason
FROM results
WHERE run_id = :run AND metric IN (SELECT value FROM json_each(:metrics))
