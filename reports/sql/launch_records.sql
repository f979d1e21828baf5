-- SPDX-License-Identifier: MIT
-- The columns of `launches` that all sections share; the others cost a run of a million launches its memory.
SELECT launch_id, device_id, family, variant, size, outcome, verified, is_ceiling, flops, reason
FROM launches
WHERE run_id = :run
ORDER BY launch_id
