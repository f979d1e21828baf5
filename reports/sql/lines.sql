-- SPDX-License-Identifier: MIT
SELECT * FROM lines WHERE run_id = :run ORDER BY launch_id, file, line, access
