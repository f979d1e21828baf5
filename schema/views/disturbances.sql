-- SPDX-License-Identifier: MIT
-- One thing that may have disturbed the times of one run, on one of its devices before or after the measuring; or why that
-- could not be found out. A run on a GPU without rows found nothing (or is of an older version, which did not look).
--
-- run_id: the run
-- device_id: the device, as in devices
-- device: its title, as in devices
-- phase: before or after
-- kind: process (another one computes or keeps memory on the card), graphics process, throttled, MPS, MIG, application
--   clocks, DCGM, counters (somebody else holds them, or there is no permission)
-- disturbs: 1 when it may have moved a time; 0 when it is only good to know
-- what: it, in words; NULL when it is not known
-- process_id: of the other process; NULL where there is none, or its number says nothing here
-- process_name: its name; NULL when not known
-- memory_mib: memory of the card that it holds, MiB; NULL when not known
-- busy: the share of the last two seconds in which it computed, %; NULL when not known
-- reason: why it is not known; NULL when it is
CREATE VIEW disturbances AS
SELECT
  s.run_id,
  s.device_id,
  d.title AS device,
  s.phase,
  s.kind,
  s.is_felt AS disturbs,
  nullif(s.what, '') AS what,
  nullif(s.process_id, 0) AS process_id,
  s.process_name,
  s.memory_mib,
  s.busy,
  nullif(s.reason, '') AS reason
FROM t_disturbance s JOIN v_device d ON d.device_id = s.device_id;
