-- SPDX-License-Identifier: MIT
-- One timing sample.
--
-- run_id: the run
-- launch_id: the launch
-- sample: its place in the order in which they were taken, from 1
-- duration_ns: the duration, ns
CREATE VIEW samples AS
SELECT l.run_id, s.launch_id, s.sample, s.duration_ns
FROM t_launch l JOIN t_sample s ON s.launch_id = l.launch_id;
