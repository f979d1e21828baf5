-- SPDX-License-Identifier: MIT
-- The kinds that were not looked for in some of the launches, each reason once. Launch by launch, which is quicker
-- than kind by kind: so the plus.
SELECT kind, words, reason, count(*) AS launches, min(launch_id) AS launch_id FROM looked_for
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND reason IS NOT NULL
GROUP BY +kind, words, reason
