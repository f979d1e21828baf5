-- SPDX-License-Identifier: MIT
-- Every value that was counted in a run; numbers only, for there may be a million.
SELECT launch_id, counter_id, value FROM counters WHERE run_id = :run AND value IS NOT NULL
