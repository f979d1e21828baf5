-- SPDX-License-Identifier: MIT
-- Counts of single machine instructions of a launch: `what` is 'executed', or what warps waited for there.
-- `address`: in the function's machine code.
CREATE TABLE t_instruction (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  address INTEGER NOT NULL,
  what TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (launch_id, address, what)
) STRICT, WITHOUT ROWID;
