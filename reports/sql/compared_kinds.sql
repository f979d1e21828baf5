-- SPDX-License-Identifier: MIT
-- The kinds that were looked for in some launches; :launches is a JSON array of ids.
SELECT launch_id, kind FROM looked_for
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND reason IS NULL
