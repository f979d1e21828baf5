-- SPDX-License-Identifier: MIT
-- The samples of each line and reason, launch by launch.
SELECT l.family, l.variant, l.size, s.launch_id, s.file, s.line, s.text, s.reason, s.samples, s.share
FROM stalls s CROSS JOIN launches l USING (run_id, launch_id)
WHERE s.run_id = :run AND (:launch = 0 OR s.launch_id = :launch)
ORDER BY s.launch_id, s.file, s.line, s.samples DESC, s.reason
