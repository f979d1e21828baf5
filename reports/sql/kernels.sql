-- SPDX-License-Identifier: MIT
-- The kernels that each variant launches.
SELECT DISTINCT family, variant, size, kernel
FROM launches
WHERE run_id = :run
ORDER BY kernel
