-- SPDX-License-Identifier: MIT
-- The name of one counter that some launch of the run has.
SELECT counter FROM counters WHERE run_id = :run AND counter_id = :counter LIMIT 1
