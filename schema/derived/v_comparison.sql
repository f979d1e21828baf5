-- SPDX-License-Identifier: MIT
-- Private. `comparison` without what its device is called, which may change when other devices are added: what follows from
-- a launch's own rows, so that a server computes it once (t_comparison, server/functions.sql).
CREATE VIEW v_comparison AS
SELECT
  l.run_id,
  l.launch_id,
  l.device_id,
  l.family,
  l.variant,
  l.size,
  l.grid_x || 'x' || l.grid_y || 'x' || l.grid_z AS grid,
  l.block_x || 'x' || l.block_y || 'x' || l.block_z AS block,
  (SELECT {duration} FROM t_timing t WHERE t.launch_id = l.launch_id) AS duration_ns,
  {shared_load_transactions_per_request} AS shared_load_transactions_per_request,
  {shared_store_transactions_per_request} AS shared_store_transactions_per_request,
  {gld_efficiency} AS gld_efficiency,
  {gst_efficiency} AS gst_efficiency,
  {gld_transactions} AS gld_transactions,
  {gst_transactions} AS gst_transactions,
  CASE WHEN l.outcome = 'done' THEN
    (SELECT {achieved_bandwidth} FROM t_timing t WHERE t.launch_id = l.launch_id)
  END AS achieved_bandwidth,
  l.outcome,
  l.reason
FROM t_launch l{counters};
