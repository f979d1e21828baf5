-- SPDX-License-Identifier: MIT
-- The line of each variant whose accesses of one kind cost most beyond their ideal. CROSS JOIN: few launches have lines,
-- so these are read first.
SELECT family, variant, size, access, file, line
FROM (
  SELECT l.family, l.variant, l.size, n.access, n.file, n.line,
         row_number() OVER (
           PARTITION BY l.family, l.variant, l.size, n.access ORDER BY n.excess DESC, n.file, n.line) AS place
  FROM lines n CROSS JOIN launches l USING (run_id, launch_id)
  WHERE n.run_id = :run
)
WHERE place = 1
