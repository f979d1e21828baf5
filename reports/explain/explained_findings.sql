-- SPDX-License-Identifier: MIT
-- :launches is a JSON array. The first :top of each launch. The fields are those of schema/explanation_fields.h.
SELECT launch_id, rank, {fields}
FROM findings
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND rank <= :top
ORDER BY launch_id, rank
