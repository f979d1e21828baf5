-- SPDX-License-Identifier: MIT
-- The sources of the run that are kept.
SELECT file, text FROM sources WHERE run_id = :run ORDER BY file
