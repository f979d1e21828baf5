-- SPDX-License-Identifier: MIT
-- The device and the sizes of a variant's launches, and whether that is what was chosen.
SELECT DISTINCT
  l.family || '/' || l.variant || coalesce(' at ' || l.size, '') || ' on ' || l.device || ' (' || l.backend || ')',
  (:device = '' OR instr(lower(l.device), lower(:device)) > 0)
    AND (:backend = '' OR l.backend = :backend)
    AND (:size IS NULL OR l.size IS :size)
FROM launches l
WHERE :variant IN (l.variant, l.family || '/' || l.variant) OR l.family || '/' || l.variant GLOB :pattern
ORDER BY 2 DESC, 1;
