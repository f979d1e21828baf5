-- SPDX-License-Identifier: MIT
-- One thing that a launch does at a cost, and where: what `explain` says.
--
-- run_id: the run
-- launch_id: the launch
-- finding_id: the launch and the rank, 12.1; remedies and predictions have it too
-- rank: 1 is the worst of the launch
-- kind: bank_conflict, strided_access, … (docs/explain.md has a section each)
-- file: source file; NULL where the finding is of the launch as a whole, or lines are not known
-- line: line in the file, from 1; NULL where the file is
-- also_lines: other lines of the file that the finding counts, as a JSON array: [47,51]; NULL where there are none
-- text: the line itself; NULL when not known
-- object: the array or buffer; NULL without a name
-- access: shared load, global store, …, as in lines; NULL where it is none
-- evidence: what was seen and what it costs, in whole sentences
-- requests: warp instructions with an active lane
-- transactions: what they cost
-- ideal: the fewest that the same bytes could cost
-- excess: transactions beyond the ideal
-- other_transactions: those of all other accesses of the same array
-- share: what a launch without it would save, % of share_of
-- share_of: what the share is of: the launch's shared wavefronts, …
-- grade: {grades}, as in results
-- grade_reason: why it is not exact; else NULL
-- lanes: the costliest warp as a JSON object: width (bytes a lane) and lanes, each with lane, address and pass. Addresses
--   are bytes from the array's beginning in shared memory, from the lowest sector in global memory. A pass is the
--   wavefront that serves the lane, from 1; 0 in global memory. NULL without one
CREATE VIEW findings AS
SELECT
  l.run_id,
  l.launch_id,
  l.launch_id || '.' || f.finding AS finding_id,
  f.finding AS rank,
  f.kind,
  f.file,
  f.line,
  f.also_lines,
  f.text,
  f.object,
  f.access,
  f.evidence,
  f.requests,
  f.transactions,
  f.ideal,
  f.transactions - f.ideal AS excess,
  f.other_transactions,
  100.0 * f.share AS share,
  f.share_of,
  (SELECT g.name FROM t_grade g WHERE g.grade = f.grade) AS grade,
  f.grade_reason,
  f.lanes
FROM t_launch l
  JOIN t_explained e ON e.launch_id = l.launch_id
  JOIN t_finding f ON f.explanation_id = e.explanation_id;
