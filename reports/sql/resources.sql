-- SPDX-License-Identifier: MIT
-- Resources of some launches; :launches is a JSON array of ids, :metrics one of names.
SELECT launch_id, metric, value, grade, reason
FROM results
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND metric IN (SELECT value FROM json_each(:metrics))
