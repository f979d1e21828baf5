-- SPDX-License-Identifier: MIT
-- How much was found in each of these launches, and how much was counted.
SELECT e.launch_id, e.findings,
       (SELECT sum(c.value) FROM counters c
        WHERE c.launch_id = e.launch_id AND (c.counter LIKE '%\_sectors' ESCAPE '\' OR c.counter LIKE '%\_wavefronts' ESCAPE '\'))
       AS transactions
FROM json_each(:launches) j JOIN explanations e ON e.launch_id = j.value
