-- SPDX-License-Identifier: MIT
-- More of the same that gives the same counts, as a JSON array: before, each was a remedy of its own.
ALTER TABLE t_remedy ADD COLUMN also_amounts TEXT;
