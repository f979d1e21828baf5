-- SPDX-License-Identifier: MIT
-- The program's own NVTX range around a profiled launch; before, it was written behind the variant.
ALTER TABLE t_launch ADD COLUMN nvtx_range TEXT;
UPDATE t_launch SET
  nvtx_range = substr(variant, instr(variant, ' [') + 2, length(variant) - instr(variant, ' [') - 2),
  variant = substr(variant, 1, instr(variant, ' [') - 1)
WHERE variant LIKE '_% [%]';
