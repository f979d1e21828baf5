-- SPDX-License-Identifier: MIT
SELECT launch_id, static_shared_bytes + dynamic_shared_bytes AS shared_bytes, resident_blocks
FROM launches
WHERE launch_id IN (SELECT value FROM json_each(:launches))
ORDER BY launch_id
