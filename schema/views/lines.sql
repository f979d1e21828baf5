-- SPDX-License-Identifier: MIT
-- Accesses of one kind on one source line of one launch.
--
-- run_id: the run
-- launch_id: the launch
-- file: source file
-- line: line in the file, from 1
-- text: the line itself
-- access: shared load, shared store, global load, global store, …
-- requests: warp instructions with an active lane
-- transactions: wavefronts of shared, sectors of global accesses
-- bytes: of global accesses, the distinct ones of each request, added up; NULL for shared ones, for those that
--   hardware counted, and for those recorded before schema version 3
-- ideal: the fewest transactions that the same bytes could cost; of measured lines as NVIDIA defines it, which differs
--   where lanes are idle or share addresses
-- excess: transactions beyond the ideal
-- efficiency: of global accesses the bytes, of those in the sectors touched, as gld_efficiency and gst_efficiency
--   say it; of shared ones the ideal over the transactions, %; NULL without transactions or bytes
-- grade: {grades}, as in results; a count is never unavailable
CREATE VIEW lines AS
SELECT
  l.run_id,
  n.launch_id,
  n.file,
  n.line,
  n.text,
  n.access,
  n.requests,
  n.transactions,
  n.bytes,
  n.ideal,
  n.transactions - n.ideal AS excess,
  CASE
    WHEN n.access LIKE 'global %' THEN {gld_efficiency(n.bytes, n.transactions)}
    ELSE {real 100} * n.ideal / nullif(n.transactions, 0)
  END AS efficiency,
  g.name AS grade
FROM t_launch l
  JOIN t_line n ON n.launch_id = l.launch_id
  JOIN t_grade g ON g.grade = n.grade;
