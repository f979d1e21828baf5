-- SPDX-License-Identifier: MIT
-- Private. One row is one launch: how many of its blocks and warps a multiprocessor holds at a time (the theoretical
-- occupancy), and what keeps it from holding more. NULL where the registers or the shared bytes are not known, and for
-- devices that the table below does not have.
--
-- The limits are those of the CUDA C++ Programming Guide's table "Technical Specifications per Compute Capability",
-- how much a launch takes of them is as cuda_occupancy.h of the toolkit says, with which a test compares this view: a
-- warp takes registers by 256, and they lie in four equal parts of which a warp uses one (65,536 registers, on all
-- devices here); a block takes shared memory by 256 or 128 bytes, and since Ampere 1,024 bytes for the system.
-- Named barriers beyond the first two and clusters may limit a launch further; the view does not know of them.
CREATE VIEW v_occupancy AS
SELECT
  launch_id,
  is_known_device,
  blocks,
  blocks * warps_of_block AS warps,
  {real 100} * blocks * warps_of_block / most_warps AS percent,
  CASE
    WHEN blocks * warps_of_block = most_warps THEN 'none'
    WHEN blocks IS NOT NULL THEN substr(
      CASE WHEN blocks = blocks_by_registers THEN ', registers' ELSE '' END
        || CASE WHEN blocks = blocks_by_shared THEN ', shared memory' ELSE '' END
        || CASE WHEN blocks = blocks_by_warps THEN ', threads' ELSE '' END
        || CASE WHEN blocks = most_blocks THEN ', blocks' ELSE '' END, 3)
  END AS limiter
FROM (
  SELECT
    *,
    min(blocks_by_registers, blocks_by_shared, blocks_by_warps, most_blocks) AS blocks
  FROM (
    SELECT
      launch_id,
      most_warps IS NOT NULL AS is_known_device,
      most_warps,
      most_blocks,
      warps_of_block,
      most_warps / nullif(warps_of_block, 0) AS blocks_by_warps,
      16384 / nullif((registers * 32 + 255) / 256 * 256, 0) * 4 / nullif(warps_of_block, 0) AS blocks_by_registers,
      -- A block without any is limited by nothing here.
      shared_kib * 1024 / max((shared_bytes + reserved + unit - 1) / unit * unit, 1) AS blocks_by_shared
    FROM (
      SELECT
        l.launch_id,
        l.registers,
        l.static_shared_bytes + l.dynamic_shared_bytes AS shared_bytes,
        (l.block_x * l.block_y * l.block_z + 31) / 32 AS warps_of_block,
        a.most_warps,
        a.most_blocks,
        a.shared_kib,
        CASE WHEN a.compute_capability < 80 THEN 256 ELSE 128 END AS unit,
        CASE WHEN a.compute_capability < 80 THEN 0 ELSE 1024 END AS reserved
      FROM t_launch l
        JOIN t_device d ON d.device_id = l.device_id
        LEFT JOIN (
          SELECT column1 AS compute_capability, column2 AS most_warps, column3 AS most_blocks, column4 AS shared_kib
          FROM (VALUES
            ( 70, 64, 32,  96),
            ( 72, 64, 32,  96),
            ( 75, 32, 16,  64),
            ( 80, 64, 32, 164),
            ( 86, 48, 16, 100),
            ( 87, 48, 16, 164),
            ( 89, 48, 24, 100),
            ( 90, 64, 32, 228),
            (100, 64, 32, 228),
            (103, 64, 32, 228),
            (110, 48, 24, 228),
            (120, 48, 24, 100),
            (121, 48, 24, 100)
          ) v
        ) a ON a.compute_capability = d.compute_capability
    ) given
  ) limits
) held;
