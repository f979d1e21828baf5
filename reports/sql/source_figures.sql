-- SPDX-License-Identifier: MIT
-- The cost of each line of a source in the launch in which it costs most: all its accesses together, and where
-- warps were sampled, which share of the launch's samples waits there for something else than its turn.
WITH accesses AS (
  SELECT file, line, launch_id, sum(requests) AS requests, sum(transactions) AS transactions, sum(excess) AS excess
  FROM lines WHERE run_id = :run GROUP BY file, line, launch_id
), costliest AS (
  SELECT *, row_number() OVER (PARTITION BY file, line ORDER BY excess DESC, transactions DESC, launch_id) AS place
  FROM accesses
), waits AS (
  SELECT file, line, launch_id, sum(share) AS share
  FROM stalls WHERE run_id = :run AND file IS NOT NULL AND reason NOT IN ('selected', 'not_selected')
  GROUP BY file, line, launch_id
), longest AS (
  SELECT file, line, max(share) AS share FROM waits GROUP BY file, line
)
SELECT c.file, c.line, c.requests, c.transactions, c.excess, w.share
FROM costliest c LEFT JOIN longest w ON w.file = c.file AND w.line = c.line
WHERE c.place = 1
UNION ALL
SELECT w.file, w.line, NULL, NULL, NULL, w.share FROM longest w
WHERE NOT EXISTS (SELECT 1 FROM accesses a WHERE a.file = w.file AND a.line = w.line)
