-- SPDX-License-Identifier: MIT
-- The waits of a launch's warps at one source line, by samples of a GPU: at a fixed number of cycles each scheduler
-- is asked what one of its warps waits for.
--
-- run_id: the run
-- launch_id: the launch
-- file: source file; NULL for instructions without a line
-- line: line in the file, from 1; NULL for instructions without a line
-- text: the line itself
-- reason: what the warp waited for, in NVIDIA's words (long_scoreboard: global or local memory, short_scoreboard: shared
--   memory, barrier, math_pipe_throttle, …); selected: it issued an instruction and did not wait
-- samples: how often that was seen
-- idle_samples: of them, when the scheduler issued no instruction of any warp: what hides nothing
-- share: of all samples of the launch, %
CREATE VIEW stalls AS
SELECT
  l.run_id,
  s.launch_id,
  nullif(s.file, '') AS file,
  nullif(s.line, 0) AS line,
  s.text,
  s.reason,
  s.samples,
  s.idle_samples,
  {real 100} * s.samples / nullif((SELECT sum(o.samples) FROM t_stall o WHERE o.launch_id = s.launch_id), 0) AS share
FROM t_stall s
  JOIN t_launch l ON l.launch_id = s.launch_id;
