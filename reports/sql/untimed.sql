-- SPDX-License-Identifier: MIT
-- Why a launch has no time.
SELECT reason FROM results WHERE launch_id = :launch AND metric = 'duration' AND value IS NULL
