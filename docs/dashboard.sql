-- SPDX-License-Identifier: MIT
-- Five questions for a dashboard: each is the query of one Grafana panel on a lab's PostgreSQL server.
-- run_id begins with the month: a condition on it skips the tables of other months.

-- 1. Is it slower, and since when?
-- A variant's duration by day and kind of card.
SELECT left(r.started, 10)::date AS day, d.name AS device, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.median_ns) AS duration_ns
FROM runs r JOIN launches l ON l.run_id = r.run_id JOIN timings t ON t.launch_id = l.launch_id
  JOIN devices d ON d.run_id = l.run_id AND d.device_id = l.device_id
WHERE l.family = 'transpose' AND l.variant = 'tiled'
GROUP BY 1, 2 ORDER BY 1, 2;

-- 2. Which card is off?
-- Each card's durations over what all cards of its kind need for the same launch, this month.
WITH timed AS (
  SELECT d.name AS device, d.uuid, r.host, l.family, l.variant, l.size, t.median_ns
  FROM launches l JOIN timings t ON t.launch_id = l.launch_id
    JOIN devices d ON d.run_id = l.run_id AND d.device_id = l.device_id JOIN runs r ON r.run_id = l.run_id
  WHERE l.family = 'transpose' AND l.run_id >= to_char(now(), 'YYYYMM')::bigint * 1000000000
), usual AS (
  SELECT device, family, variant, size, percentile_cont(0.5) WITHIN GROUP (ORDER BY median_ns) AS median_ns
  FROM timed GROUP BY device, family, variant, size
)
SELECT t.device, t.uuid, min(t.host) AS host, count(*) AS launches,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY t.median_ns / u.median_ns) AS times_the_usual
FROM timed t JOIN usual u USING (device, family, variant, size)
WHERE u.median_ns > 0
GROUP BY t.device, t.uuid ORDER BY times_the_usual DESC;

-- 3. Who measures?
-- Runs of the last thirty days by machine, with what failed and when the last one began.
SELECT host, count(*) AS runs, count(*) FILTER (WHERE outcome <> 'done') AS not_done, max(started) AS last
FROM runs WHERE started >= to_char(now() - interval '30 days', 'YYYY-MM-DD')
GROUP BY host ORDER BY last DESC;

-- 4. Which variants conflict?
-- Shared-memory transactions a request, and the efficiency of global loads.
SELECT variant, max(shared_load_transactions_per_request) AS loads, max(shared_store_transactions_per_request) AS stores,
  min(gld_efficiency) AS gld_efficiency, count(*) AS launches
FROM comparison WHERE family = 'transpose'
GROUP BY variant ORDER BY loads DESC NULLS LAST;

-- 5. What fails?
-- Failed launches of this month by machine and reason.
SELECT r.host, l.family, l.variant, l.reason, count(*) AS launches, max(r.started) AS last
FROM launches l JOIN runs r ON r.run_id = l.run_id
WHERE l.outcome = 'failed' AND l.run_id >= to_char(now(), 'YYYYMM')::bigint * 1000000000
GROUP BY 1, 2, 3, 4 ORDER BY launches DESC;
