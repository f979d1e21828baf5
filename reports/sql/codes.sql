-- SPDX-License-Identifier: MIT
-- The compiled text of the run's kernels.
SELECT file, kernel, form, text FROM codes WHERE run_id = :run ORDER BY file, kernel, form
