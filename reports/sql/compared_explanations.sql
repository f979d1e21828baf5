-- SPDX-License-Identifier: MIT
-- Those of some launches that were explained, with the number of what they were told; :launches is a JSON array of ids.
SELECT launch_id, explanation_id FROM explanations
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND findings IS NOT NULL
