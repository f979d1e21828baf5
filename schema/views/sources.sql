-- SPDX-License-Identifier: MIT
-- One source file of one run, as it was when it was measured: those that lines and stalls name, where they could be read.
--
-- run_id: the run
-- file: the file, as lines and stalls name it
-- text: what it held
CREATE VIEW sources AS
SELECT run_id, file, text FROM t_source;
