-- SPDX-License-Identifier: MIT
-- The most that the cards of a run were measured to do.
SELECT device_id, name, value FROM peaks WHERE run_id = :run AND value > 0
