-- SPDX-License-Identifier: MIT
-- The bytes that a line's accesses to global memory asked for: their efficiency is of bytes, as a
-- launch's is.
ALTER TABLE t_line ADD COLUMN bytes INTEGER;
