-- SPDX-License-Identifier: MIT
-- The counts of machine instructions of each kernel's largest launch that has some.
WITH counted AS (
  SELECT DISTINCT launch_id FROM instructions WHERE run_id = :run
), launched AS (
  SELECT l.launch_id, l.family, l.variant, l.kernel, l.size, row_number() OVER (
    PARTITION BY l.family, l.variant, l.kernel ORDER BY coalesce(l.size, 0) DESC, l.launch_id) AS place
  FROM counted c CROSS JOIN launches l
  WHERE l.run_id = :run AND l.launch_id = c.launch_id
)
SELECT l.family, l.variant, l.kernel, l.size, i.address, i.what, i.count
FROM launched l JOIN instructions i ON i.launch_id = l.launch_id
WHERE i.run_id = :run AND l.place = 1
ORDER BY l.launch_id, i.address, i.count DESC, i.what
