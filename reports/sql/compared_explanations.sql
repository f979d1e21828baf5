-- SPDX-License-Identifier: MIT
-- The explained ones of some launches; :launches is a JSON array of ids.
SELECT launch_id FROM explanations
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND findings IS NOT NULL
