-- SPDX-License-Identifier: MIT
-- :launches is a JSON array. The first :top of each launch; pictures only where :lanes.
SELECT launch_id, rank, kind, file, line, also_lines, text, object, access, evidence, requests, transactions, ideal,
       other_transactions, share, share_of, grade, grade_reason, iif(:lanes, lanes, NULL) AS lanes
FROM findings
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND rank <= :top
ORDER BY launch_id, rank
