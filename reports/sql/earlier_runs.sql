-- SPDX-License-Identifier: MIT
-- The runs before this one that launched the variant of its first launch, the last of them first: those that may have
-- launched the same variants as it.
SELECT r.run_id
FROM runs r, runs this
WHERE this.run_id = :run AND r.run_id <> :run AND r.outcome <> 'running'
  AND (r.started < this.started OR (r.started = this.started AND r.run_id < :run))
  AND EXISTS (
    SELECT 1 FROM launches mine JOIN launches l USING (family, variant)
    WHERE mine.launch_id = (SELECT min(launch_id) FROM launches WHERE run_id = :run) AND l.run_id = r.run_id
  )
ORDER BY r.started DESC, r.run_id DESC
