-- SPDX-License-Identifier: MIT
-- The values of one metric of the launches that were chosen, in the order of time. Kernels of other programs
-- have no size: their geometry tells what can be compared.
SELECT
  r.run_id, r.started, r.git_revision, r.label, l.family, l.variant,
  coalesce(l.size, CASE WHEN NOT l.verified THEN l.grid || ' of ' || l.block END, '') AS size,
  l.device, l.backend, x.value, x.unit, x.grade, x.reason, r.outcome
FROM launches l
  JOIN runs r ON r.run_id = l.run_id
  JOIN results x ON x.launch_id = l.launch_id AND x.metric = :metric
WHERE (:variant IN (l.variant, l.family || '/' || l.variant) OR l.family || '/' || l.variant GLOB :pattern)
  AND l.outcome = 'done' AND r.outcome <> 'running'
  AND (:device = '' OR instr(lower(l.device), lower(:device)) > 0)
  AND (:backend = '' OR l.backend = :backend)
  AND (:size IS NULL OR l.size = :size)
ORDER BY r.started, r.run_id, l.launch_id;
