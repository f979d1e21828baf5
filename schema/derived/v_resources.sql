-- SPDX-License-Identifier: MIT
-- Private. One row is one metric of one launch that ran and ended well, from its kernel's code and its geometry. On a GPU the
-- driver tells them, on the model the machine code. `grade` is a number of t_grade.
CREATE VIEW v_resources AS
SELECT
  launch_id,
  metric,
  value,
  unit,
  CASE
    WHEN value IS NULL THEN {grade unavailable}
    WHEN backend = 'cupti' THEN {grade measured}
    WHEN doubt IS NULL THEN {grade exact}
    WHEN metric = 'static_shared_bytes' THEN {grade ptx}
    ELSE {grade modelled}
  END AS grade,
  CASE WHEN value IS NOT NULL THEN doubt ELSE coalesce(unknown_because, 'it was not recorded') END AS reason
FROM (
  SELECT
    l.launch_id,
    l.backend,
    m.name AS metric,
    m.unit,
    CASE m.name
      {resources}
    END AS value,
    CASE
      WHEN m.name IN ('spill_loads', 'spill_stores') THEN l.spills_reason
      WHEN m.name = 'static_shared_bytes' AND l.backend <> 'cupti' AND l.registers IS NULL
        THEN 'declared in the PTX; the machine code was not read'
    END AS doubt,
    CASE
      WHEN m.name = 'theoretical_occupancy' THEN l.occupancy_reason
      WHEN m.name IN ('spill_loads', 'spill_stores') THEN l.spills_unknown
      WHEN m.name = 'code_bytes' AND l.backend = 'cupti'
        THEN coalesce(l.resources_reason, 'the driver does not tell it: -b model reads it from the machine code')
      ELSE l.resources_reason
    END AS unknown_because
  FROM (
    SELECT
      l.launch_id,
      d.backend,
      l.registers,
      l.local_bytes,
      l.spill_load_bytes,
      l.spill_store_bytes,
      l.spills_reason,
      l.static_shared_bytes,
      l.dynamic_shared_bytes,
      l.code_bytes,
      l.resources_reason,
      {spills_unknown} AS spills_unknown,
      l.percent AS theoretical_occupancy,
      l.occupancy_reason
    FROM v_occupancy l
      JOIN v_device d ON d.device_id = l.device_id
    WHERE l.outcome = 'done' AND l.reason IS NULL
  ) l
    JOIN t_metric m ON m.name IN ({resource names})
) f;
