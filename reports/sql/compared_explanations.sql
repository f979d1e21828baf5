-- SPDX-License-Identifier: MIT
-- The explained ones of some launches, each with the id of its explanation; :launches is a JSON array of ids.
SELECT launch_id, explanation_id FROM explanations
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND findings IS NOT NULL
