-- One launch, the standard metrics as columns. A launch that failed is here too, with NULL figures and
-- its reason: a missing variant must be seen.
--
-- run_id: the run
-- launch_id: the launch
-- device: its title, as in devices
-- backend: cupti (hardware) or model (PTX on the CPU)
-- family: family of kernels
-- variant: variant of the family
-- size: the family's number; NULL for families of one fixed size
-- grid: blocks, as 64x64x1
-- block: threads of a block, as 16x16x1
-- duration_ns: median of the clean timing, ns
-- shared_load_transactions_per_request: 1 is free of bank conflicts for accesses of 32 bits
-- shared_store_transactions_per_request: 1 is free of bank conflicts for accesses of 32 bits
-- gld_efficiency: distinct bytes loaded, of those in the sectors touched, %
-- gst_efficiency: distinct bytes stored, of those in the sectors touched, %
-- gld_transactions: sectors of 32 bytes that global loads touched
-- gst_transactions: sectors of 32 bytes that global stores touched
-- achieved_bandwidth: useful bytes read and written over the duration, GB/s (10⁹ bytes)
-- outcome: done or failed
-- reason: why it failed; else NULL
CREATE VIEW comparison AS
SELECT
  l.run_id,
  l.launch_id,
  d.title AS device,
  d.backend,
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
FROM t_launch l JOIN v_device d ON d.device_id = l.device_id{counters};
