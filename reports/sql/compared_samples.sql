-- SPDX-License-Identifier: MIT
SELECT launch_id, duration_ns FROM samples WHERE run_id = :run
