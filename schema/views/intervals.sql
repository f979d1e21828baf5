-- SPDX-License-Identifier: MIT
-- The bounds of one counter or metric that was estimated from some blocks of a launch (`--blocks` of run and profile): 95 % of
-- such intervals hold what counting all blocks gives, where the other blocks are like those that were counted.
--
-- run_id: the run
-- launch_id: the launch
-- metric: the counter or metric, as in results, which has its value
-- low: the lower bound
-- high: the upper bound
CREATE VIEW intervals AS
SELECT l.run_id, i.launch_id, i.metric, i.low, i.high
FROM t_interval i CROSS JOIN t_launch l
WHERE l.launch_id = i.launch_id;
