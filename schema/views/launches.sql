-- SPDX-License-Identifier: MIT
-- One variant (or one kernel launch of a profiled program) at one size in one run.
--
-- run_id: the run
-- launch_id: number of the launch in this database
-- device_id: the device, as in devices
-- device: its title, as in devices
-- backend: cupti (hardware) or model (PTX on the CPU)
-- family: family of kernels; the program for profile, "model" for model
-- variant: variant of the family; the short kernel name for profile
-- size: the family's number (side of the matrix, length); NULL for families of one fixed size
-- kernel: name of the entry
-- nvtx_range: the innermost NVTX range that was open in the profiled program; NULL without one
-- grid: blocks, as 64x64x1
-- block: threads of a block, as 16x16x1
-- dynamic_shared_bytes: shared memory that the launch asked for, bytes
-- static_shared_bytes: shared memory that the kernel declares, bytes; NULL when not known
-- registers: registers of a thread; NULL when not known
-- local_bytes: local memory of a thread, bytes: arrays, and registers that were spilled; NULL when not known
-- spill_load_bytes: bytes that the machine code loads to bring spilled registers back, each load once, as ptxas -v prints
--   them; NULL when not known
-- spill_store_bytes: bytes that it stores to spill them; NULL when not known
-- resident_blocks: blocks of the launch that a multiprocessor has room for at a time; NULL when not known
-- resident_warps: the warps of those
-- theoretical_occupancy: those warps, of the most that a multiprocessor holds, %; NULL when not known
-- occupancy_limiter: what keeps the occupancy from 100 %: registers, shared memory, threads, blocks, or several of these
--   with commas; none at 100 %
-- resources_reason: why one of these is not known; else NULL
-- useful_bytes_read: bytes of the input, each once; NULL when not known
-- useful_bytes_written: bytes of the output, each once; NULL when not known
-- flops: useful floating-point operations; NULL when not known
-- verified: 1 when its result was compared with what was expected of it and right
-- is_ceiling: 1 for the variant that shows the best bandwidth its family can reach
-- outcome: done or failed; a failed launch has no figures
-- reason: why it failed, or why the backend could not run it (done, not verified, without figures); else NULL
CREATE VIEW launches AS
SELECT
  l.run_id,
  l.launch_id,
  l.device_id,
  d.title AS device,
  d.backend,
  l.family,
  l.variant,
  l.size,
  l.kernel,
  l.nvtx_range,
  l.grid_x || 'x' || l.grid_y || 'x' || l.grid_z AS grid,
  l.block_x || 'x' || l.block_y || 'x' || l.block_z AS block,
  l.dynamic_shared_bytes,
  l.static_shared_bytes,
  l.registers,
  l.local_bytes,
  l.spill_load_bytes,
  l.spill_store_bytes,
  l.blocks AS resident_blocks,
  l.warps AS resident_warps,
  l.percent AS theoretical_occupancy,
  l.limiter AS occupancy_limiter,
  CASE
    WHEN l.occupancy_reason IS NOT NULL THEN l.occupancy_reason
    WHEN l.local_bytes IS NULL THEN coalesce(l.resources_reason, 'local memory was not recorded')
    WHEN l.spill_store_bytes IS NULL THEN {spills_unknown}
  END AS resources_reason,
  l.useful_bytes_read,
  l.useful_bytes_written,
  l.flops,
  l.verified,
  l.is_ceiling,
  l.outcome,
  l.reason
FROM v_occupancy l
  JOIN v_device d ON d.device_id = l.device_id;
