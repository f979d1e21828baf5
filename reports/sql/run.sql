-- SPDX-License-Identifier: MIT
SELECT * FROM runs WHERE run_id = :run
