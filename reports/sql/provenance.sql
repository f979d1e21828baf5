-- SPDX-License-Identifier: MIT
-- The run with its times as people write them.
SELECT *,
       strftime('%Y-%m-%d %H:%M:%S', started) AS began,
       CASE WHEN date(started) = date(ended) THEN strftime('%H:%M:%S', ended)
            ELSE strftime('%Y-%m-%d %H:%M:%S', ended) END AS until
FROM runs
WHERE run_id = :run
