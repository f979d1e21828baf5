-- SPDX-License-Identifier: MIT
-- The run with its times as people write them. Its launches are not counted, which takes a while where there are a million.
SELECT run_id, uuid, label, outcome, reason, planned_launches, backend, device, host, command,
       tool_version, git_revision, cuda_version,
       strftime('%Y-%m-%d %H:%M:%S', started) AS began,
       CASE WHEN date(started) = date(ended) THEN strftime('%H:%M:%S', ended)
            ELSE strftime('%Y-%m-%d %H:%M:%S', ended) END AS until
FROM runs
WHERE run_id = :run
