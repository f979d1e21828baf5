-- SPDX-License-Identifier: MIT
-- The line of a variant whose accesses of one kind cost most beyond their ideal.
SELECT n.file, n.line
FROM launches l JOIN lines n ON n.launch_id = l.launch_id
WHERE l.run_id = :run AND l.family = :family AND l.variant = :variant AND l.size IS :size
  AND n.access = :access
ORDER BY n.excess DESC, n.file, n.line
LIMIT 1
