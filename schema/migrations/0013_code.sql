-- SPDX-License-Identifier: MIT
-- The machine code of a launch's kernel: its size, and what it spills. A kernel without local memory spills nothing.
ALTER TABLE t_launch ADD COLUMN code_bytes INTEGER;
ALTER TABLE t_launch ADD COLUMN spill_load_bytes INTEGER;
ALTER TABLE t_launch ADD COLUMN spill_store_bytes INTEGER;
ALTER TABLE t_launch ADD COLUMN spills_reason TEXT;
UPDATE t_launch SET spill_load_bytes = 0, spill_store_bytes = 0 WHERE local_bytes = 0;
