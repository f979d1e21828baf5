-- SPDX-License-Identifier: MIT
-- The ten accesses that cost most beyond their ideal. Repeated launches of a variant have the one where it
-- costs most (beside one MAX the other columns are of its row). CROSS JOIN: few launches have lines, so these are
-- read first.
SELECT family, variant, size, file, line, access, text, grade,
       requests, transactions, ideal, MAX(excess) AS excess
FROM lines CROSS JOIN launches USING (run_id, launch_id)
WHERE lines.run_id = :run AND excess > 0
GROUP BY family, variant, size, file, line, access
ORDER BY MAX(excess) DESC, family, variant, size, file, line, access
LIMIT 10
