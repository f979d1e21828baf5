-- SPDX-License-Identifier: MIT
-- One change that was tried against a finding, on the addresses that were recorded.
--
-- run_id: the run
-- launch_id: the launch
-- finding_id: the finding
-- finding_rank: its rank in the launch
-- rank: 1 is the best of the finding; those advised come first
-- name: padding 1, swizzle, transpose, vector 4, …
-- change: in the kernel's own words where they are known: tile[16][17]; else NULL
-- words: what it is: a word of padding a row
-- also_amounts: more of the same that gives the same counts, as a JSON array: [3,5,7] words of padding, or bits of a swizzle's shift; NULL where there is none
-- is_advised: 1 when it is better than today; 0: tried, and no better
-- transactions: of the finding's own accesses, with the change
-- other_transactions: of all other accesses of the same array, with the change
-- shared_bytes: shared memory of a block, with the change; NULL when it is not concerned
-- blocks: blocks of a multiprocessor at a time, with the change; NULL when not known
-- lanes: the finding's warp with the change, as in findings; NULL without one, and where it is not advised
CREATE VIEW remedies AS
SELECT
  l.run_id,
  l.launch_id,
  l.launch_id || '.' || r.finding AS finding_id,
  r.finding AS finding_rank,
  r.remedy AS rank,
  r.name,
  r.change,
  r.words,
  r.also_amounts,
  r.is_advised,
  r.transactions,
  r.other_transactions,
  r.shared_bytes,
  r.blocks,
  r.lanes
FROM t_launch l
  JOIN t_explained e ON e.launch_id = l.launch_id
  JOIN t_remedy r ON r.explanation_id = e.explanation_id;
