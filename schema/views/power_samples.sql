-- SPDX-License-Identifier: MIT
-- The card at one move of NVML's energy counter, while a launch was repeated to measure its energy.
--
-- run_id: the run
-- launch_id: the launch
-- sample: its place in time, from 1
-- time_s: since the card was first looked at, s
-- power_w: mean power since the move before, the idle power included, W
-- sm_clock_mhz: the SM clock then, MHz; NULL where NVML does not tell it
-- temperature_c: the temperature then, °C; NULL where NVML does not tell it
CREATE VIEW power_samples AS
SELECT l.run_id, s.launch_id, s.sample, s.time_s, s.power_w, s.sm_clock_mhz, s.temperature_c
FROM t_power_sample s CROSS JOIN t_launch l
WHERE l.launch_id = s.launch_id;
