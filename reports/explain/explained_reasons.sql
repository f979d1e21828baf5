-- SPDX-License-Identifier: MIT
-- Why some launches have no explanation; :launches is a JSON array of ids.
SELECT launch_id, reason FROM explanations
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND reason IS NOT NULL
