-- SPDX-License-Identifier: MIT
SELECT l.launch_id, l.family, l.variant, l.size, l.grid, l.block, l.device, l.outcome, l.reason AS failure, e.explanation_id,
       e.findings, e.reason,
       (SELECT sum(c.value) FROM counters c
        WHERE c.launch_id = l.launch_id AND (c.counter LIKE '%\_sectors' ESCAPE '\' OR c.counter LIKE '%\_wavefronts' ESCAPE '\'))
       AS transactions
FROM launches l JOIN explanations e USING (run_id, launch_id)
WHERE l.run_id = :run
ORDER BY l.launch_id
