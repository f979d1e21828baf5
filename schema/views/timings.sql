-- SPDX-License-Identifier: MIT
-- The clean timing of one launch; launches without one have no row.
--
-- run_id: the run
-- launch_id: the launch
-- samples: how many samples were taken
-- median_ns: median of the samples, ns; `duration` in results
-- min_ns: the shortest sample, ns
-- mean_ns: their mean, ns
-- stddev_ns: their standard deviation (of a sample, n - 1), ns; NULL for a single one
-- relative_confidence: half the width of the median's 95 % confidence interval, over the median; NULL for
--   a single sample, which has none
-- cache: cold (flushed before each sample) or warm
-- stopped_by: what ended the sampling: confidence, samples or time
CREATE VIEW timings AS
SELECT
  l.run_id,
  t.launch_id,
  t.samples,
  t.median_ns,
  t.min_ns,
  t.mean_ns,
  t.stddev_ns,
  CASE WHEN t.samples > 1 THEN t.relative_confidence END AS relative_confidence,
  t.cache,
  t.stopped_by
FROM t_launch l JOIN t_timing t ON t.launch_id = l.launch_id;
