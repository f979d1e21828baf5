-- SPDX-License-Identifier: MIT
-- The findings of some launches, without pictures; :launches is a JSON array of ids.
SELECT launch_id, rank, kind, file, line, also_lines, text, object, access, evidence, requests, transactions, ideal,
       other_transactions, share, share_of, grade, grade_reason, NULL AS lanes
FROM findings
WHERE launch_id IN (SELECT value FROM json_each(:launches))
ORDER BY launch_id, rank
