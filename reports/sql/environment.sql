-- SPDX-License-Identifier: MIT
SELECT name, value FROM environment WHERE run_id = :run ORDER BY name, value
