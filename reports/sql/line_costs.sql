-- SPDX-License-Identifier: MIT
-- Every access of every source line. Repeated launches of a variant have the one where it costs
-- most (beside one MAX the other columns are of its row).
SELECT family, variant, size, file, line, access, text, grade,
       requests, transactions, ideal, MAX(excess) AS excess, efficiency
FROM lines CROSS JOIN launches USING (run_id, launch_id)
WHERE lines.run_id = :run
GROUP BY family, variant, size, file, line, access
ORDER BY file, line, access, family, variant, size
