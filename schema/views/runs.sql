-- SPDX-License-Identifier: MIT
-- One invocation of warpmeter that measured.
--
-- run_id: number of the run in this database
-- uuid: name of the run in every database; any unambiguous beginning of it names the run
-- started: when it began, UTC, ISO 8601
-- ended: when it ended; NULL while it runs, and when it was interrupted without a word
-- host: the machine
-- tool_version: version of warpmeter
-- git_revision: revision that warpmeter was built from
-- backend: where it was asked to measure: cupti, model, or auto's choice
-- device: titles of its devices, joined with ", "; NULL before the first one was opened
-- driver: driver version of the hardware; NULL for the model
-- sm_clock_mhz: highest clock of the multiprocessors seen before or after measuring, MHz
-- memory_clock_mhz: highest clock of the memory seen before or after measuring, MHz
-- label: the name that its user gave it; NULL without one
-- outcome: running, done, failed (a launch failed, or an error ended it) or interrupted
-- reason: why it failed or was interrupted; else NULL
-- cuda_version: CUDA version that warpmeter was built with
-- command: the command line
-- launches: how many launches it stored, failed ones included
-- failed_launches: how many of them failed
-- planned_launches: how many it was going to store; NULL when not known (profile; runs of older versions)
CREATE VIEW runs AS
SELECT
  r.run_id,
  r.uuid,
  r.started,
  r.ended,
  r.host,
  r.tool_version,
  r.git_revision,
  r.backend,
  (
    SELECT {group_concat}(named.title, ', ')
    FROM (
      SELECT d.title
      FROM t_run_device rd JOIN v_device d ON d.device_id = rd.device_id
      WHERE rd.run_id = r.run_id
      GROUP BY d.title
      ORDER BY min(d.ordinal), d.title
    ) named
  ) AS device,
  (
    SELECT nullif(max(d.driver), '')
    FROM t_run_device rd JOIN t_device d ON d.device_id = rd.device_id
    WHERE rd.run_id = r.run_id
  ) AS driver,
  (SELECT max(s.sm_clock_mhz) FROM t_device_state s WHERE s.run_id = r.run_id) AS sm_clock_mhz,
  (SELECT max(s.memory_clock_mhz) FROM t_device_state s WHERE s.run_id = r.run_id)
    AS memory_clock_mhz,
  r.label,
  r.outcome,
  r.reason,
  r.cuda_version,
  r.command,
  (SELECT count(*) FROM t_launch l WHERE {l of r}) AS launches,
  (SELECT count(*) FROM t_launch l WHERE {l of r} AND l.outcome = 'failed')
    AS failed_launches,
  r.planned_launches
FROM t_run r;
