-- SPDX-License-Identifier: MIT
-- One counter or metric of one launch. A metric derived from counters is here when all its counters
-- were recorded; duration, achieved_bandwidth and the resources always are. A launch that failed has no rows.
--
-- run_id: the run
-- launch_id: the launch
-- device: its title, as in devices
-- backend: cupti (hardware) or model (PTX on the CPU)
-- family: family of kernels
-- variant: variant of the family
-- size: the family's number; NULL for families of one fixed size
-- metric: name in the catalogue (nvprof's where nvprof had one), or a full PerfWorks name
-- value: the figure; NULL when it is unavailable
-- unit: unit of the value, "%" is 0 to 100; NULL for PerfWorks names
-- grade: {grades}, in falling trust (the first of hardware, the next ones of
--   the model); a derived value has the grade of its weakest input
-- reason: why it is unavailable, or why the grade is no better; NULL when there is nothing to say
CREATE VIEW results AS
SELECT
  l.run_id, l.launch_id, d.title AS device, d.backend, l.family, l.variant, l.size, f.metric,
  f.value, f.unit, g.name AS grade, f.reason
FROM t_launch l
  JOIN v_device d ON d.device_id = l.device_id
  JOIN v_counted f ON f.launch_id = l.launch_id
  JOIN t_grade g ON g.grade = f.grade
UNION ALL
SELECT
  l.run_id, l.launch_id, d.title AS device, d.backend, l.family, l.variant, l.size, f.metric,
  f.value, f.unit, g.name AS grade, f.reason
FROM t_launch l
  JOIN v_device d ON d.device_id = l.device_id
  JOIN v_derived f ON f.launch_id = l.launch_id AND f.complete
  JOIN t_grade g ON g.grade = f.grade
UNION ALL
SELECT
  l.run_id, l.launch_id, d.title AS device, d.backend, l.family, l.variant, l.size, f.metric,
  f.value, f.unit, g.name AS grade, f.reason
FROM t_launch l
  JOIN v_device d ON d.device_id = l.device_id
  JOIN v_timed f ON f.launch_id = l.launch_id
  JOIN t_grade g ON g.grade = f.grade
UNION ALL
SELECT
  l.run_id, l.launch_id, d.title AS device, d.backend, l.family, l.variant, l.size, f.metric,
  f.value, f.unit, g.name AS grade, f.reason
FROM t_launch l
  JOIN v_device d ON d.device_id = l.device_id
  JOIN v_resources f ON f.launch_id = l.launch_id
  JOIN t_grade g ON g.grade = f.grade;
