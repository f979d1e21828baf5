-- SPDX-License-Identifier: MIT
-- Counts of one machine instruction of a launch of `run --lines` or `profile --lines`, where they are known: from a GPU,
-- or from the model where it could follow the warps through the machine code.
--
-- run_id: the run
-- launch_id: the launch
-- address: in the kernel's machine code, as the text in codes has it
-- what: executed: how often a warp executed it; else what sampled warps waited for there, as in stalls
-- count: instructions of warps, or samples
CREATE VIEW instructions AS
SELECT l.run_id, i.launch_id, i.address, i.what, i.count
FROM t_instruction i CROSS JOIN t_launch l  -- few launches have some, of a million
WHERE l.launch_id = i.launch_id;
