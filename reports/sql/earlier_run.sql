-- SPDX-License-Identifier: MIT
-- The last run before this one that launched the same variants at the same sizes on the same devices, and no others.
-- The first comparison only spares the others their work.
WITH mine AS (SELECT DISTINCT device, backend, family, variant, size FROM launches WHERE run_id = :run)
SELECT r.run_id
FROM runs r, runs this
WHERE this.run_id = :run AND r.run_id <> :run AND r.outcome <> 'running'
  AND (r.started < this.started OR (r.started = this.started AND r.run_id < :run))
  AND EXISTS (
    SELECT 1 FROM launches l JOIN mine m USING (device, backend, family, variant) WHERE l.run_id = r.run_id
  )
  AND NOT EXISTS (
    SELECT * FROM mine
    EXCEPT SELECT device, backend, family, variant, size FROM launches WHERE run_id = r.run_id
  )
  AND NOT EXISTS (
    SELECT device, backend, family, variant, size FROM launches WHERE run_id = r.run_id
    EXCEPT SELECT * FROM mine
  )
ORDER BY r.started DESC, r.run_id DESC
LIMIT 1
