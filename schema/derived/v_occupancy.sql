-- SPDX-License-Identifier: MIT
-- Private. One row is one launch, all columns of t_launch first: how many of its blocks and warps a multiprocessor holds
-- at a time (the theoretical occupancy), and what keeps it from holding more. NULL where the registers or the shared
-- bytes are not known, and for devices that the lists below do not have; `reason` says which.
--
-- The limits are those of the CUDA C++ Programming Guide's table "Technical Specifications per Compute Capability", in
-- conditions, since SQLite would make a table of them anew for each launch. How much a launch takes of them is as
-- cuda_occupancy.h of the toolkit says, with which a test compares this view: a warp takes registers by 256, and they
-- lie in four equal parts of which a warp uses one (65,536 registers, on all devices here); a block takes shared
-- memory by 256 or 128 bytes, and since Ampere 1,024 bytes for the system. Named barriers beyond the first two and
-- clusters may limit a launch further; the view does not know of them.
-- The columns of t_launch are here because a join would look each launch up again.
CREATE VIEW v_occupancy AS
SELECT
  *,
  blocks * warps_of_block AS warps,
  {real 100} * blocks * warps_of_block / most_warps AS percent,
  CASE
    WHEN blocks * warps_of_block = most_warps THEN 'none'
    WHEN blocks IS NOT NULL THEN substr(
      CASE WHEN blocks = blocks_by_registers THEN ', registers' ELSE '' END
        || CASE WHEN blocks = blocks_by_shared THEN ', shared memory' ELSE '' END
        || CASE WHEN blocks = blocks_by_warps THEN ', threads' ELSE '' END
        || CASE WHEN blocks = most_blocks THEN ', blocks' ELSE '' END, 3)
  END AS limiter,
  CASE
    WHEN registers IS NULL OR shared_bytes IS NULL THEN coalesce(resources_reason, 'it was not recorded')
    WHEN NOT is_known_device
      THEN 'the limits of compute capability ' || (compute_capability / 10) || '.' || (compute_capability % 10)
        || ' are not known'
  END AS occupancy_reason
FROM (
  SELECT
    *,
    min(blocks_by_registers, blocks_by_shared, blocks_by_warps, most_blocks) AS blocks
  FROM (
    SELECT
      *,
      most_warps IS NOT NULL AS is_known_device,
      most_warps / nullif(warps_of_block, 0) AS blocks_by_warps,
      16384 / nullif((registers * 32 + 255) / 256 * 256, 0) * 4 / nullif(warps_of_block, 0) AS blocks_by_registers,
      -- A block without any is limited by nothing here.
      shared_kib * 1024 / max((shared_bytes + reserved + unit - 1) / unit * unit, 1) AS blocks_by_shared
    FROM (
      SELECT
        l.*,
        l.static_shared_bytes + l.dynamic_shared_bytes AS shared_bytes,
        d.compute_capability,
        (l.block_x * l.block_y * l.block_z + 31) / 32 AS warps_of_block,
        CASE
          WHEN d.compute_capability IN (70, 72, 80, 90, 100, 103) THEN 64
          WHEN d.compute_capability IN (86, 87, 89, 110, 120, 121) THEN 48
          WHEN d.compute_capability IN (75) THEN 32
        END AS most_warps,
        CASE
          WHEN d.compute_capability IN (70, 72, 80, 90, 100, 103) THEN 32
          WHEN d.compute_capability IN (89, 110, 120, 121) THEN 24
          WHEN d.compute_capability IN (75, 86, 87) THEN 16
        END AS most_blocks,
        CASE
          WHEN d.compute_capability IN (90, 100, 103, 110) THEN 228
          WHEN d.compute_capability IN (80, 87) THEN 164
          WHEN d.compute_capability IN (86, 89, 120, 121) THEN 100
          WHEN d.compute_capability IN (70, 72) THEN 96
          WHEN d.compute_capability IN (75) THEN 64
        END AS shared_kib,
        CASE WHEN d.compute_capability < 80 THEN 256 ELSE 128 END AS unit,
        CASE WHEN d.compute_capability < 80 THEN 0 ELSE 1024 END AS reserved
      FROM t_launch l
        JOIN t_device d ON d.device_id = l.device_id
    ) given
  ) limits
) held;
