-- SPDX-License-Identifier: MIT
-- Those of some launches that were explained; :launches is a JSON array of ids.
SELECT launch_id FROM explanations
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND findings IS NOT NULL
