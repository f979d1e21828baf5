-- SPDX-License-Identifier: MIT
-- The kernels of a run whose machine code spills registers, the most bytes first. A kernel has the row of its launch with
-- the least occupancy.
SELECT family, variant, kernel, registers, local_bytes, spill_load_bytes, spill_store_bytes,
       min(theoretical_occupancy) AS theoretical_occupancy, occupancy_limiter
FROM launches
WHERE run_id = :run AND coalesce(spill_load_bytes, 0) + coalesce(spill_store_bytes, 0) > 0
GROUP BY family, variant, kernel, registers, local_bytes, spill_load_bytes, spill_store_bytes
ORDER BY coalesce(spill_load_bytes, 0) + coalesce(spill_store_bytes, 0) DESC, family, variant, kernel
