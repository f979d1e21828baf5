-- SPDX-License-Identifier: MIT
-- Local memory of a thread, and why it or the registers are not known.
ALTER TABLE t_launch ADD COLUMN local_bytes INTEGER;
ALTER TABLE t_launch ADD COLUMN resources_reason TEXT;
