-- SPDX-License-Identifier: MIT
-- One device of one run.
--
-- run_id: the run
-- device_id: number of the device in this database
-- backend: cupti (hardware) or model (PTX on the CPU)
-- ordinal: its number on its machine, as CUDA counts
-- name: NVIDIA H200, model sm_90
-- title: its name, and where the database has several cards of it the slot: NVIDIA H200 #1; where even these
--   are alike (two machines), the beginning of its UUID too: NVIDIA H200 #0 (GPU-6f1d3f2c)
-- chip: GH100; NULL for the model
-- compute_capability: 90 is 9.0
-- uuid: NULL for the model
-- driver: driver version; NULL for the model
-- multiprocessors: NULL when not known
-- memory_bytes: device memory, bytes; NULL when not known
-- l2_bytes: L2 cache, bytes; NULL when not known
CREATE VIEW devices AS
SELECT
  rd.run_id,
  d.device_id,
  d.backend,
  d.ordinal,
  d.name,
  d.title,
  nullif(d.chip, '') AS chip,
  d.compute_capability,
  nullif(d.uuid, '') AS uuid,
  nullif(d.driver, '') AS driver,
  d.multiprocessors,
  d.memory_bytes,
  d.l2_bytes
FROM t_run_device rd JOIN v_device d ON d.device_id = rd.device_id;
