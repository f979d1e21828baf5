-- SPDX-License-Identifier: MIT
SELECT * FROM predictions
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND finding_rank <= :top
ORDER BY launch_id, finding_rank, remedy_rank, counter
