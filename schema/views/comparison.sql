-- SPDX-License-Identifier: MIT
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
  c.run_id,
  c.launch_id,
  d.title AS device,
  d.backend,
  c.family,
  c.variant,
  c.size,
  c.grid,
  c.block,
  c.duration_ns,
  c.shared_load_transactions_per_request,
  c.shared_store_transactions_per_request,
  c.gld_efficiency,
  c.gst_efficiency,
  c.gld_transactions,
  c.gst_transactions,
  c.achieved_bandwidth,
  c.outcome,
  c.reason
FROM {comparison} c JOIN v_device d ON d.device_id = c.device_id;
