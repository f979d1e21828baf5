-- SPDX-License-Identifier: MIT
-- The transactions of all accesses of the kernel to the memory that a finding's accesses go to.
ALTER TABLE t_finding ADD COLUMN kernel_transactions INTEGER;
