-- SPDX-License-Identifier: MIT
SELECT launch_id, kind, words, reason FROM looked_for
WHERE launch_id IN (SELECT value FROM json_each(:launches))
ORDER BY launch_id
