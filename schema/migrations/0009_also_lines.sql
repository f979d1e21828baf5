-- SPDX-License-Identifier: MIT
-- Other lines of the file that a finding counts, as a JSON array. Those that were written before name them in their
-- evidence.
ALTER TABLE t_finding ADD COLUMN also_lines TEXT;
UPDATE t_finding SET also_lines = '[' || substr(evidence, instr(evidence, 'So do lines ') + 12,
  instr(evidence, ', which are counted here') - instr(evidence, 'So do lines ') - 12) || ']'
WHERE evidence LIKE '%So do lines %, which are counted here%';
UPDATE t_finding SET also_lines = '[' || substr(evidence, instr(evidence, 'So does line ') + 13,
  instr(evidence, ', which is counted here') - instr(evidence, 'So does line ') - 13) || ']'
WHERE evidence LIKE '%So does line %, which is counted here%';
