-- SPDX-License-Identifier: MIT
-- One device of one run, before or after the measuring, as NVML tells it.
--
-- run_id: the run
-- device_id: the device, as in devices
-- device: its title, as in devices
-- phase: before or after
-- sm_clock_mhz: clock of the multiprocessors, MHz; NULL when not known, as with all that follow
-- memory_clock_mhz: clock of the memory, MHz
-- temperature_c: temperature, °C
-- power_w: power, W
-- throttle_reasons: why the clocks are held back, joined with ", "; empty when they are not
-- ecc: 1 when memory errors are corrected
-- mig: 1 when the device is split into instances
-- persistence: 1 when the driver stays loaded
-- unavailable: why there is no state at all; NULL when there is
CREATE VIEW device_states AS
SELECT
  s.run_id,
  s.device_id,
  d.title AS device,
  s.phase,
  s.sm_clock_mhz,
  s.memory_clock_mhz,
  s.temperature_c,
  s.power_w,
  s.throttle_reasons,
  s.ecc,
  s.mig,
  s.persistence,
  s.unavailable
FROM t_device_state s JOIN v_device d ON d.device_id = s.device_id;
