-- SPDX-License-Identifier: MIT
-- The kernels that a variant launches.
SELECT DISTINCT kernel
FROM launches
WHERE run_id = :run AND family = :family AND variant = :variant AND size IS :size
ORDER BY kernel
