-- SPDX-License-Identifier: MIT
-- The kinds that were looked for in one of the launches at least.
SELECT DISTINCT kind, words FROM looked_for
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND reason IS NULL
