-- SPDX-License-Identifier: MIT
-- The compiled text of one kernel of one run of `run --lines` or `profile --lines`.
--
-- run_id: the run
-- file: the source file in which the kernel has most of its lines, as in sources
-- kernel: family/variant; of a program its name and the kernel with its parameters
-- form: PTX, or machine code (where the CUDA toolkit's nvdisasm was at hand)
-- text: its text; comments "// FILE:LINE" say which source line what follows was made of
CREATE VIEW codes AS
SELECT run_id, file, kernel, form, text FROM t_code;
