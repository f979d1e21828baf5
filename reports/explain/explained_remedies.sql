-- SPDX-License-Identifier: MIT
SELECT launch_id, finding_rank, rank, {fields},
       EXISTS (SELECT 1 FROM predictions p
               WHERE p.launch_id = remedies.launch_id AND p.finding_rank = remedies.finding_rank
                 AND p.remedy_rank = remedies.rank AND p.counter LIKE '%requests'
                 AND p.measured <> p.predicted) AS changes_requests
FROM remedies
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND finding_rank <= :top AND (is_advised OR :all)
ORDER BY launch_id, finding_rank, rank
