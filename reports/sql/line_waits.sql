-- SPDX-License-Identifier: MIT
-- The reasons for which warps wait at each line of a source, in the launch in which they wait there longest.
WITH waits AS (
  SELECT file, line, launch_id, sum(share) AS share
  FROM stalls WHERE run_id = :run AND file IS NOT NULL AND reason NOT IN ('selected', 'not_selected')
  GROUP BY file, line, launch_id
), longest AS (
  SELECT *, row_number() OVER (PARTITION BY file, line ORDER BY share DESC, launch_id) AS place FROM waits
)
SELECT s.file, s.line, s.reason, s.share
FROM longest w JOIN stalls s ON s.launch_id = w.launch_id AND s.file = w.file AND s.line = w.line
WHERE s.run_id = :run AND w.place = 1 AND s.reason NOT IN ('selected', 'not_selected')
ORDER BY s.file, s.line, s.share DESC, s.reason
