-- SPDX-License-Identifier: MIT
-- Rules that hold for every launch in a database, whatever was run: one row for each value that
-- breaks one. Tests of kernels and programs put them to the databases that they made.
WITH kinds(access, name, transactions) AS (VALUES
  ('global load', 'global_load', 'sectors'),
  ('global store', 'global_store', 'sectors'),
  ('global atomic', 'global_atomic', 'sectors'),
  ('global reduction', 'global_reduction', 'sectors'),
  ('shared load', 'shared_load', 'wavefronts'),
  ('shared store', 'shared_store', 'wavefronts'),
  ('shared atomic', 'shared_atomic', 'wavefronts'),
  ('shared async copy', 'async_copy', 'wavefronts'),
  ('shared matrix load', 'shared_matrix_load', 'wavefronts'),
  ('shared matrix store', 'shared_matrix_store', 'wavefronts')),
counted AS (
  SELECT launch_id, variant, metric, value FROM results WHERE value IS NOT NULL),
of_lines AS (
  SELECT launch_id, access, sum(requests) AS requests, sum(transactions) AS transactions
  FROM lines GROUP BY launch_id, access),
with_lines AS (SELECT DISTINCT launch_id FROM lines)
-- No efficiency is above 100 %, of a launch or of a line.
SELECT 'efficiency' AS rule, launch_id, variant || ': ' || metric || ' is ' || value AS broken
FROM counted WHERE metric LIKE '%efficiency' AND value > 100
UNION ALL
SELECT 'efficiency', launch_id, access || ' of line ' || line || ' has ' || efficiency
FROM lines WHERE efficiency > 100
UNION ALL
-- Bytes have room in their sectors.
SELECT 'bytes', b.launch_id, b.variant || ': ' || b.metric || ' ' || b.value || ', sectors ' || s.value
FROM kinds k
  JOIN counted b ON b.metric = k.name || '_bytes'
  JOIN counted s ON s.launch_id = b.launch_id AND s.metric = k.name || '_sectors'
WHERE b.value > 32 * s.value
UNION ALL
-- A request takes one transaction at least, but for a load by cp.async whose lanes have no source.
SELECT 'requests', r.launch_id, r.variant || ': ' || r.metric || ' ' || r.value || ', transactions ' || t.value
FROM kinds k
  JOIN counted r ON r.metric = k.name || '_requests'
  JOIN counted t ON t.launch_id = r.launch_id AND t.metric = k.name || '_' || k.transactions
  LEFT JOIN counted c ON c.launch_id = r.launch_id AND c.metric = 'async_copy_requests' AND k.name = 'global_load'
WHERE r.value - coalesce(c.value, 0) > t.value
UNION ALL
SELECT 'requests', l.launch_id, l.access || ' of line ' || l.line || ': ' || l.requests || ' of ' || l.transactions
FROM lines l WHERE ideal > transactions OR (requests > transactions AND NOT (access = 'global load' AND EXISTS (
  SELECT 1 FROM lines c WHERE c.launch_id = l.launch_id AND c.access = 'shared async copy' AND c.line = l.line)))
UNION ALL
-- The lines of a launch add up to it.
SELECT 'lines', c.launch_id, c.variant || ': ' || c.metric || ' ' || c.value || ', in its lines ' ||
  coalesce(CASE WHEN c.metric LIKE '%requests' THEN l.requests ELSE l.transactions END, 0)
FROM kinds k
  JOIN counted c ON c.metric IN (k.name || '_requests', k.name || '_' || k.transactions)
  JOIN with_lines w ON w.launch_id = c.launch_id
  LEFT JOIN of_lines l ON l.launch_id = c.launch_id AND l.access = k.access
WHERE c.value <> coalesce(CASE WHEN c.metric LIKE '%requests' THEN l.requests ELSE l.transactions END, 0)
